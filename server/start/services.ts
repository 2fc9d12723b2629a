// Opens the stores and wires the features: what the routes need, what jobs.ts runs, and what main.ts closes.

import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import { toUploadsNeeds } from '../config/upload-settings.ts'
import { VERSION } from '../config/version.ts'
import { createClickAnnouncer } from '../features/analytics/feed/announce-clicks.ts'
import { reportMissing } from '../features/analytics/missing/report-missing.ts'
import { createClickInference } from '../features/attribution/infer-clicks.ts'
import { type BackupSchedule, createBackupSchedule } from '../features/backup/schedule.ts'
import { createDestinationWatch } from '../features/destinations/watch-destinations.ts'
import { createSubmissionPruner } from '../features/forms/erasure/prune-submissions.ts'
import { openUploads } from '../features/forms/uploads/uploads.ts'
import { readHitMetrics } from '../features/hits/metrics.ts'
import { toRetentionStart } from '../features/hits/retention.ts'
import { createBlocklist } from '../features/links/blocklist/blocklist.ts'
import { readDomainMetrics } from '../features/links/domains/domain-metrics.ts'
import { readLinkMetrics } from '../features/links/metrics.ts'
import { preloadLinks } from '../features/links/preload-links.ts'
import { createClockFollower } from '../features/notify/delivery/follow-clock.ts'
import { endDueSplits } from '../features/splits/end-split.ts'
import { type ImportServiceNeeds, openImports } from '../features/transfer/import/open-imports.ts'
import { verifySafeRequest } from '../http/safe-request.ts'
import { createApiNeeds, createVerificationNeeds } from './api-needs.ts'
import { type CommonParts, createCommonParts } from './common-parts.ts'
import { createServerDoctor } from './doctor.ts'
import { followChanges } from './follow-changes.ts'
import { type JobNeeds, startJobs } from './jobs.ts'
import { type Notify, openNotify } from './notify.ts'
import {
  createMetricsReader,
  type MetricsNeeds,
  openObservability,
  readDatabaseMetrics,
} from './observability.ts'
import { openPublicEndpoints, type PublicEndpoints } from './public-endpoints.ts'
import { createSite } from './site.ts'
import { openStores, type StoreOptions, type Stores } from './stores.ts'
import { createViewJobs, createViewNeeds } from './views.ts'

export interface ServiceOptions extends StoreOptions {
  /** Where several servers share the ports of this machine. */
  worker?: MetricsNeeds['worker']
  /** How long files of imports may take, and where they are read. */
  reading?: Pick<ImportServiceNeeds, 'sliceMs' | 'deadlineMs' | 'startReader'>
}

export type Services = Awaited<ReturnType<typeof openServices>>

/**
 * Opens everything but the routes and the socket. Jobs and deliveries run from now on.
 * @throws when a store cannot be opened, or the address check of outgoing requests does not hold
 */
export async function openServices(config: Config, options: ServiceOptions = {}) {
  const { now = Date.now, clock, worker, reading } = options
  await verifySafeRequest()
  const blocklist = await createBlocklist(config.destinationBlocklist)
  const site = createSite(config, blocklist.isBlocked)
  const stores = await openStores(config, site, options)
  const uploads = await openUploads({ ...stores, ...toUploadsNeeds(config, worker), now, clock })
  const shared = createCommonParts(config, { ...stores, uploads, site, blocklist, now, clock })
  const attribution = createClickInference(shared)
  const { resolvePendingAttribution } = attribution
  const notify = await openNotify(config, { ...shared, resolvePendingAttribution })
  const endpoints = openPublicEndpoints(config, shared, notify)
  const feed = await followChanges({ ...shared, ...endpoints })
  await preloadLinks(shared)
  const backups = createServiceBackups(config, now, worker)
  const doctor = createServerDoctor(config, { ...shared, hitWorker: stores.hitWorker })
  const imports = openServiceImports(config, { ...shared, ...reading })
  const parts = { ...shared, ...endpoints, imports, notify, resolvePendingAttribution, doctor }
  const submissionPruner = createSubmissionPruner(shared)
  const jobs = startServiceJobs(config, {
    ...shared,
    imports,
    submissionPruner,
    makeBackup: backups.run,
    setSalts: stores.setSalts,
    endDueSplits: () => endDueSplits({ ...shared, resolvePendingAttribution }),
    ...createViewJobs(config, { ...shared, resolvePendingAttribution }, notify.wake),
    resolvePendingAttribution: attribution.resolveAllPending,
  })
  const drain = createDrain(shared.live.close)
  const metrics = createServiceMetrics({ ...parts, hitWorker: stores.hitWorker }, worker)
  const observability = await openObservability(config, stores.db, stores.spool.node)
  for (const part of [feed, observability, backups, imports, uploads, submissionPruner])
    metrics.add(part.metrics)
  return {
    ...stores,
    ...createPublicNeeds(config, { ...shared, resolvePendingAttribution }, endpoints),
    mailRoutes: notify.mailRoutes,
    doctor,
    doctorRoutes: { ...config, ...doctor, inspectHits: stores.hitWorker.inspect, now },
    signIn: { ...config, ...shared },
    api: createApiNeeds(config, parts),
    observer: observability.observer,
    watchLoop: observability.watchLoop,
    operations: {
      access: config,
      probe: stores.db.probe,
      draining: drain.isOn,
      version: VERSION,
      acceptsHits: stores.spool.acceptsHits,
      metrics: metrics.readAll,
    },
    readOwnMetrics: metrics.readOwn,
    startDraining: drain.start,
    setConnectionMetrics: metrics.add,
    /** Closes in order: jobs, deliveries, attempt counts, and then the stores. */
    async close() {
      drain.start()
      backups.stop()
      await imports.stop()
      await jobs.stop()
      await feed.close()
      await notify.close()
      await endpoints.attempts.close()
      await uploads.close()
      await stores.close()
      await observability.close()
    },
  }
}

/** @param endStreams ends the answers that have no end of their own, which a shutdown would wait for */
function createDrain(endStreams: () => void) {
  let isOn = false
  return {
    isOn: () => isOn,
    start() {
      isOn = true
      endStreams()
    },
  }
}

/** Dependencies of the public routes. */
function createPublicNeeds(
  config: Config,
  shared: Parameters<typeof createViewNeeds>[1],
  { intake, forms, formFacts }: PublicEndpoints,
) {
  const { sharedViews, publicStats } = createViewNeeds(config, shared)
  return {
    site: shared.site,
    domains: shared.domains,
    hosts: { domains: shared.domains, site: shared.site, trustProxy: config.trustProxy },
    origin: config.origin,
    paths: config,
    redirects: { ...shared, publicStats, trustProxy: config.trustProxy, abuseEmail: config.abuseEmail },
    sharedViews,
    intake,
    forms,
    formFacts,
    fileLinks: shared,
    snippet: { ...config, builtFiles: shared.builtFiles },
    dashboard: { builtFiles: shared.builtFiles },
  }
}

interface MetricServices
  extends CommonParts,
    Pick<PublicEndpoints, 'attempts' | 'captcha' | 'submissionLimit' | 'uploadLimit' | 'pageViewLimit'> {
  hitWorker: Stores['hitWorker']
  notify: Notify
}

const createServiceMetrics = (services: MetricServices, worker: MetricsNeeds['worker']) =>
  createMetricsReader({
    node: services.spool.node,
    worker,
    readers: [
      () => readHitMetrics(services),
      () => readDatabaseMetrics(services.db),
      () => readLinkMetrics(services.cache),
      () => readDomainMetrics(services.domains),
      services.attempts.metrics,
      services.submissionLimit.metrics,
      services.uploadLimit.metrics,
      services.pageViewLimit.metrics,
      services.captcha.metrics,
      services.notify.replies.metrics,
      services.mailBudget.metrics,
      services.notify.metrics,
      services.blocklist.metrics,
    ],
  })

const openServiceImports = (
  { dataDir, geoipDb, hitRetentionDays: days }: Config,
  shared: CommonParts & ServiceOptions['reading'],
) =>
  openImports({
    ...shared,
    ...shared.hits,
    dataDir,
    node: shared.spool.node,
    geoPath: geoipDb,
    retentionStart: (at) => (days === undefined ? 0 : toRetentionStart(at, days)),
  })

/** The first worker of a machine makes the backup of all: the command reads the settings that the supervisor has read. */
function createServiceBackups(
  config: Config,
  now: () => number,
  worker: MetricsNeeds['worker'],
): BackupSchedule {
  const settings = (worker?.number ?? 1) === 1 ? config.backups : undefined
  const dataDir = worker ? dirname(config.dataDir) : config.dataDir
  return createBackupSchedule({ settings, dataDir, now })
}

type JobServices = CommonParts &
  Pick<
    JobNeeds,
    | 'makeBackup'
    | 'setSalts'
    | 'endDueSplits'
    | 'sendReports'
    | 'sendAlerts'
    | 'resolvePendingAttribution'
    | 'imports'
    | 'submissionPruner'
  >

function startServiceJobs(config: Config, services: JobServices) {
  const { spool, cluster, hits, blocklist, uploads } = services
  const mails = { origin: config.origin, onlyVerified: config.signup === 'open' }
  const clicks = createClickAnnouncer({ ...services, node: spool.node, origin: config.origin })
  return startJobs({
    ...services,
    announceClicks: clicks.run,
    runAlone: cluster.runAlone,
    hitRetentionDays: config.hitRetentionDays,
    pruneHits: hits.pruneHits,
    node: spool.node,
    eraseHits: hits.eraseHits,
    reloadBlocklist: blocklist.reload,
    sweepUploads: uploads.sweep,
    eraseFiles: uploads.erase,
    reportMissing: () => reportMissing({ ...services, ...mails }),
    watchDestinations: createDestinationWatch({
      ...services,
      ...mails,
      sync: services.destinationSync,
      allow: config.webhookAllow,
    }),
    pruneBuiltFiles: services.builtFiles?.prune,
    verification: createVerificationNeeds(config, services),
    followClock: createClockFollower(services),
  })
}
