// Opens the stores and wires the features: what app.ts mounts, what jobs.ts runs, and what main.ts closes.

import { dirname } from 'node:path'
import { toUploadsPlace } from './config/upload-settings.ts'
import type { Config } from './config.ts'
import { createServerDoctor } from './doctor.ts'
import { createRateLimiter } from './features/accounts/access/rate-limiter.ts'
import { createMailBudget, limitMails } from './features/accounts/strangers/mail-budget.ts'
import { createStorageLimit } from './features/accounts/strangers/storage-limit.ts'
import { mailOwners, type OwnersMail } from './features/accounts/workspaces/mail-owners.ts'
import { reportMissing } from './features/analytics/missing/report-missing.ts'
import { createClickInference } from './features/attribution/infer-clicks.ts'
import { createVisitMatcher } from './features/attribution/match-visit.ts'
import { recordTouches } from './features/attribution/record-touches.ts'
import { createSenderDescriber } from './features/attribution/sender.ts'
import { type BackupSchedule, createBackupSchedule } from './features/backup/schedule.ts'
import type { Doctor } from './features/doctor/report/doctor.ts'
import { openAttemptCounter } from './features/forms/attempts/attempt-counter.ts'
import { createCaptchaProvider } from './features/forms/captcha/create-captcha-provider.ts'
import { createFormStorageLimits } from './features/forms/endpoint/storage-limits.ts'
import { createPersonHashers } from './features/forms/erasure/erasure-receipt.ts'
import { createSubmissionPruner } from './features/forms/erasure/prune-submissions.ts'
import { createSpamJudge } from './features/forms/spam/judge-spam.ts'
import { createSpamLearner } from './features/forms/spam/learn-spam.ts'
import { createWorkspaceSpamCache } from './features/forms/spam/workspace-spam.ts'
import { openUploads, type Uploads } from './features/forms/uploads/open-uploads.ts'
import { createClickIds } from './features/hits/click-id.ts'
import { readHitMetrics } from './features/hits/metrics.ts'
import { toRetentionStart } from './features/hits/retention.ts'
import { type Blocklist, createBlocklist } from './features/links/blocklist/blocklist.ts'
import { createDestinationJudge } from './features/links/blocklist/judge-destination.ts'
import { createLinkCache } from './features/links/cache.ts'
import { createClickLimiter } from './features/links/counting/use-click.ts'
import { createDnsClients } from './features/links/domains/dns-client.ts'
import { readDomainMetrics } from './features/links/domains/domain-metrics.ts'
import { createServerAddresses } from './features/links/domains/server-addresses.ts'
import type { Site } from './features/links/link.ts'
import { readLinkMetrics } from './features/links/metrics.ts'
import { createDomainDirectory, type DomainDirectory } from './features/links/names/domain-directory.ts'
import { createOwnHosts, listOwnHosts } from './features/links/names/own-hosts.ts'
import { preloadLinks } from './features/links/preload-links.ts'
import { createClockFollower } from './features/notify/delivery/follow-clock.ts'
import { createEventIds } from './features/tracking/event-id.ts'
import { createWorkspaceLookup } from './features/tracking/workspace-lookup.ts'
import { type ImportService, openImports } from './features/transfer/import/open-imports.ts'
import { createFreshness, followChanges } from './follow-changes.ts'
import { createMailSender } from './http/mail/send-mail.ts'
import { verifySafeRequest } from './http/safe-request.ts'
import { type JobNeeds, startJobs } from './jobs.ts'
import { toDomainOrigin } from './lib/web-url.ts'
import { createMetricsReader, type MetricsNeeds, readDatabaseMetrics } from './metrics.ts'
import { type Notify, openNotify } from './notify.ts'
import { openObservability } from './observability.ts'
import { createSite } from './site.ts'
import { createBuiltFileStore } from './storage/built-file-store.ts'
import { prepareScratchDirectory } from './storage/export-directory.ts'
import { createGeoLookup, type GeoLookup } from './storage/geo.ts'
import { openStores, type StoreOptions, type Stores } from './stores.ts'
import { VERSION } from './version.ts'

export interface ServiceOptions extends StoreOptions {
  /** Where several servers share the ports of this machine. */
  worker?: MetricsNeeds['worker']
}

export type Services = Awaited<ReturnType<typeof openServices>>

/**
 * Opens everything but the routes and the socket. Jobs and deliveries run from now on.
 * @throws when a store cannot be opened, or the address check of outgoing requests does not hold
 */
export async function openServices(config: Config, options: ServiceOptions = {}) {
  const { now = Date.now, clock, worker } = options
  await verifySafeRequest()
  const blocklist = await createBlocklist(config.destinationBlocklist)
  const site = createSite(config, blocklist.isBlocked)
  const stores = await openStores(config, site, options)
  const uploads = await openUploads({ ...stores, ...toUploadsPlace(config, worker), now, clock })
  const shared = createShared(config, { ...stores, uploads, site, blocklist, now, clock })
  const attribution = createClickInference(shared)
  const { resolvePendingAttribution } = attribution
  const notify = await openNotify(config, { ...shared, resolvePendingAttribution })
  const endpoints = openPublicServices(config, shared, notify)
  const feed = await followChanges({ ...shared, ...endpoints })
  await preloadLinks(shared)
  const backups = createServiceBackups(config, now, worker)
  const doctor = createServerDoctor(config, { ...shared, hitWorker: stores.hitWorker })
  const imports = openServiceImports(config, shared)
  const apiNeeds = { ...shared, ...endpoints, imports, notify, resolvePendingAttribution, doctor }
  const api = createApiServices(config, apiNeeds)
  const submissionPruner = createSubmissionPruner(shared)
  const jobs = startServiceJobs(config, {
    ...shared,
    imports,
    submissionPruner,
    makeBackup: backups.run,
    setSalts: stores.setSalts,
    resolvePendingAttribution: attribution.resolveAllPending,
  })
  let draining = false
  const metrics = createServiceMetrics(
    { ...shared, ...endpoints, notify, hitWorker: stores.hitWorker },
    worker,
  )
  const observability = await openObservability(config, stores.db, stores.spool.node)
  for (const part of [feed, observability, backups, imports, uploads, submissionPruner])
    metrics.add(part.metrics)
  return {
    ...stores,
    ...createPublicNeeds(config, shared, endpoints),
    mailRoutes: notify.mailRoutes,
    doctor,
    doctorRoutes: { ...config, ...doctor, inspectHits: stores.hitWorker.inspect, now },
    signIn: { ...config, ...shared },
    api,
    observer: observability.observer,
    operations: {
      access: config,
      probe: stores.db.probe,
      draining: () => draining,
      version: VERSION,
      acceptsHits: stores.spool.acceptsHits,
      metrics: metrics.readAll,
    },
    readOwnMetrics: metrics.readOwn,
    startDraining() {
      draining = true
    },
    setConnectionMetrics: metrics.add,
    /** Closes in order: jobs, deliveries, attempt counts, and then the stores. */
    async close() {
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

/** What anybody may ask for needs these. */
const createPublicNeeds = (config: Config, shared: Shared, { intake, forms, formFacts }: PublicServices) => ({
  site: shared.site,
  domains: shared.domains,
  hosts: { domains: shared.domains, site: shared.site, trustProxy: config.trustProxy },
  origin: config.origin,
  paths: config,
  redirects: { ...shared, trustProxy: config.trustProxy, abuseEmail: config.abuseEmail },
  intake,
  forms,
  formFacts,
  fileLinks: shared,
  snippet: { ...config, builtFiles: shared.builtFiles },
  dashboard: { builtFiles: shared.builtFiles },
})

interface MetricServices
  extends Shared,
    Pick<PublicServices, 'attempts' | 'captcha' | 'submissionLimit' | 'uploadLimit' | 'pageViewLimit'> {
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

const openServiceImports = ({ dataDir, geoipDb, hitRetentionDays: days }: Config, shared: Shared) =>
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

type JobServices = Shared &
  Pick<JobNeeds, 'makeBackup' | 'setSalts' | 'resolvePendingAttribution' | 'imports' | 'submissionPruner'>

function startServiceJobs(config: Config, services: JobServices) {
  const { spool, cluster, hits, blocklist, uploads } = services
  return startJobs({
    ...services,
    runAlone: cluster.runAlone,
    hitRetentionDays: config.hitRetentionDays,
    pruneHits: hits.pruneHits,
    node: spool.node,
    eraseHits: hits.eraseHits,
    reloadBlocklist: blocklist.reload,
    sweepUploads: uploads.sweep,
    eraseFiles: uploads.erase,
    reportMissing: () =>
      reportMissing({ ...services, origin: config.origin, onlyVerified: config.signup === 'open' }),
    pruneBuiltFiles: services.builtFiles?.prune,
    verification: createVerificationNeeds(config, services),
    followClock: createClockFollower(services),
  })
}

interface SharedNeeds extends Stores {
  uploads: Uploads
  site: Site
  blocklist: Blocklist
  now: () => number
  clock?: () => number
}
type Shared = ReturnType<typeof createShared>

/** Things that several features share. There must be exactly one of each. */
function createShared(config: Config, needs: SharedNeeds) {
  const { db, disk, spool, misses, cluster, hitWorker, getSalt, blocklist, uploads, now, clock } = needs
  const getOthersShippedUntil = cluster.getOthersShippedUntil
  const freshness = createFreshness(db.engine)
  const cache = createLinkCache(freshness)
  const domains = createDomainDirectory(db, needs.site, {
    onNewHolder(names) {
      cache.invalidateMisses()
      hitWorker.setOwnHosts(listOwnHosts(needs.site, names))
    },
  })
  const mailBudget = createMailBudget({ db, now, mailPerDay: config.mailPerDay })
  const send = createMailSender(config)
  const openDnsClient = createDnsClients(config.dnsServers)
  return {
    db,
    disk,
    uploads,
    spool,
    misses,
    cluster,
    hits: { ...hitWorker, countedUntil: () => Math.min(hitWorker.countedUntil(), getOthersShippedUntil()) },
    getOthersShippedUntil,
    getSalt,
    site: addDomains(needs.site, domains),
    now,
    clock,
    clickLimiter: createClickLimiter(db),
    freshness,
    cache,
    domains,
    openDnsClient,
    serverAddresses: createServerAddresses(needs.site, openDnsClient),
    blocklist,
    isBlockedDestination: createDestinationJudge(blocklist),
    geo: createLazyGeoLookup(config.geoipDb),
    clickIds: createClickIds(config.secret, spool.node),
    limiter: createRateLimiter(db, { clock, secret: config.secret, countOthers: cluster.countOthers }),
    mailBudget,
    builtFiles: db.engine === 'postgres' ? createBuiltFileStore({ db, now }) : undefined,
    sendMail: send && limitMails(send, mailBudget),
  }
}

/** No link may lead to a short link, on whatever domain: it could make a loop. */
const addDomains = (site: Site, domains: DomainDirectory): Site => ({
  ...site,
  isShortHost: (host) => site.isShortHost(host) || domains.isOwnDomain(host),
})

/** Opens what pages on other sites use: the form endpoint, and the intake of the snippet. */
function openPublicServices(config: Config, shared: Shared, notify: Notify) {
  const { db, site, clickIds, getSalt, geo, freshness, now } = shared
  const { secret, origin, trustProxy, turnstile, intakePath } = config
  const captcha = createCaptchaProvider({ secret, turnstile, now })
  const ownHosts = createOwnHosts(shared)
  const ids = createEventIds(secret)
  const workspaces = createWorkspaceLookup(db, freshness)
  const attempts = openAttemptCounter({ db, now })
  const limits = createStorageLimits(config, shared)
  const spam = createWorkspaceSpamCache(db, secret)
  return {
    captcha,
    spam: { ...spam, ...createSpamLearner(secret, spam) },
    attempts,
    ...limits,
    workspaces,
    forms: {
      ...shared,
      toOrigin: (domain: string) => toDomainOrigin(origin, domain),
      trustProxy,
      captcha,
      attempts,
      submissionLimit: limits.submissionLimit,
      uploadLimit: limits.uploadLimit,
      uploadBytesPerWorkspace: config.uploadBytesPerWorkspace,
      isBlocked: site.isBlocked,
      describeSender: createSenderDescriber({ geo, getSalt }),
      matchVisit: createVisitMatcher({ clickIds, eventIds: ids, ownHosts }),
      recordTouches,
      wakeDeliverer: notify.wake,
      judgeSpam: createSpamJudge(spam),
      replies: notify.replies,
      replyLinks: notify.replyLinks,
    },
    formFacts: { db, captcha },
    intake: {
      ...shared,
      ...limits,
      path: intakePath,
      eventIds: ids,
      workspaces,
      ownHosts,
      trustProxy,
    },
  }
}

type PublicServices = ReturnType<typeof openPublicServices>

/** What strangers may store. */
function createStorageLimits(config: Config, { clock, ...shared }: Shared) {
  const owners = { ...shared, onlyVerified: config.signup === 'open' }
  return {
    ...createFormStorageLimits(owners, config, clock),
    pageViewLimit: createStorageLimit({ kind: 'page_views', perWorkspace: config.pageViewsPerDay, clock }),
  }
}

interface ApiServices extends Shared, Pick<PublicServices, 'attempts' | 'spam'> {
  imports: ImportService
  notify: Notify
  doctor: Doctor
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
}

/** The needs of the routes of /v1, by feature. */
function createApiServices(config: Config, services: ApiServices) {
  const { db, limiter, hits, site, now, sendMail, mailBudget, attempts, notify, spam } = services
  const { resolvePendingAttribution, isBlockedDestination, domains } = services
  const { origin, secret, turnstile, webhookAllow, snippetPath, defaultPlan } = config
  const analytics = { db, hits, now, defaultDomain: site.domain }
  const scratchDir = prepareScratchDirectory(config.dataDir)
  return {
    gates: { db, limiter, now, origin, secret, version: VERSION },
    accounts: { limiter, now, origin, snippetPath, defaultPlan, sendMail, mailBudget },
    links: { site, now },
    cards: { site, limiter, allow: webhookAllow },
    domains: createVerificationNeeds(config, services),
    redirects: { site, domains, now, isBlockedDestination },
    exports: { site, hits, scratchDir, now, version: VERSION, resolvePendingAttribution },
    analytics: { ...analytics, scratchDir },
    leads: { ...analytics, resolvePendingAttribution },
    forms: {
      origin,
      now,
      resolvePendingAttribution,
      isBlocked: site.isBlocked,
      wakeDeliverer: notify.wake,
      spam,
      canMail: sendMail !== undefined,
    },
    erasure: { spam, origin, now, resolvePendingAttribution, ...createPersonHashers(secret) },
    losses: { attempts, now },
    files: { origin, resolvePendingAttribution, uploads: services.uploads },
    formCheck: { origin, turnstile: turnstile !== undefined, allow: webhookAllow },
    notify: notify.api,
    doctor: { doctor: services.doctor },
    imports: { ...services.imports, site, now, dataDir: config.dataDir, node: services.spool.node },
  }
}

/** What a look at a domain's DNS needs, in the API and in the daily job. */
const createVerificationNeeds = (config: Config, shared: Shared) => ({
  ...shared,
  mailOwners: (workspaceId: number, mail: OwnersMail) =>
    mailOwners({ ...shared, onlyVerified: config.signup === 'open' }, workspaceId, mail),
})

/** Opens the country database at the first look-up, because it takes 8 MB of memory. */
function createLazyGeoLookup(path: string | undefined): () => GeoLookup {
  let geo: GeoLookup | undefined
  return () => {
    geo ??= createGeoLookup(path)
    return geo
  }
}
