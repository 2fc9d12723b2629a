// Opens the stores and wires what visitors of links and forms need. later.ts has the rest.

import type { Config } from '../config/config.ts'
import { toUploadsNeeds } from '../config/upload-settings.ts'
import { VERSION } from '../config/version.ts'
import { openUploads } from '../features/forms/uploads/uploads.ts'
import { readHitMetrics } from '../features/hits/metrics.ts'
import { createBlocklist } from '../features/links/blocklist/blocklist.ts'
import { readDomainMetrics } from '../features/links/domains/domain-metrics.ts'
import { readLinkMetrics } from '../features/links/metrics.ts'
import { preloadLinks } from '../features/links/preload-links.ts'
import { verifySafeRequest } from '../http/safe-request.ts'
import { type CommonParts, createCommonParts } from './common-parts.ts'
import { followChanges } from './follow-changes.ts'
import type { LaterOptions } from './later.ts'
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

export interface ServiceOptions extends StoreOptions {
  /** Where several servers share the ports of this machine. */
  worker?: MetricsNeeds['worker']
  /** How long files of imports may take, and where they are read. */
  reading?: LaterOptions['reading']
}

export type Services = Awaited<ReturnType<typeof openServices>>

/**
 * Opens what visitors of links and forms need. Deliveries run from now on; jobs and the API's services are opened later.
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
  const notify = await openNotify(config, shared)
  const endpoints = openPublicEndpoints(config, shared, notify)
  const feed = await followChanges({ ...shared, ...endpoints })
  await preloadLinks(shared)
  const drain = createDrain(shared.live.close)
  const metrics = createServiceMetrics(
    { ...shared, ...endpoints, notify, hitWorker: stores.hitWorker },
    worker,
  )
  const observability = await openObservability(config, stores.db, stores.spool.node)
  for (const part of [feed, observability, uploads]) metrics.add(part.metrics)
  const later = createLater(async () => {
    const { openLaterServices } = await import('./later.ts')
    const parts = { ...stores, ...shared, ...endpoints, notify }
    return openLaterServices(config, parts, { worker, reading, addMetrics: metrics.add })
  })
  return {
    ...stores,
    ...createPublicNeeds(config, shared, endpoints),
    /** Starts the jobs, and opens what the API and the sign-in need. */
    openLater: later.open,
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
      await later.close()
      await feed.close()
      await notify.close()
      await endpoints.attempts.close()
      await uploads.close()
      await stores.close()
      await observability.close()
    },
  }
}

/** Opens once, and closes what was opened. */
function createLater<Opened extends { close(): Promise<void> }>(openNow: () => Promise<Opened>) {
  let opened: Promise<Opened> | undefined
  return {
    open: () => (opened ??= openNow()),
    close: async () => (await opened)?.close(),
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
  shared: CommonParts,
  { intake, forms, formInfo }: PublicEndpoints,
) {
  return {
    site: shared.site,
    domains: shared.domains,
    hosts: { domains: shared.domains, site: shared.site, trustProxy: config.trustProxy },
    origin: config.origin,
    paths: config,
    redirects: {
      ...shared,
      trustProxy: config.trustProxy,
      abuseEmail: config.abuseEmail,
      renderStats: async (link: { id: number; workspaceId: number }) => {
        const { renderPublicStats } = await import('./views.ts')
        return renderPublicStats(shared, link)
      },
    },
    intake,
    forms,
    formInfo,
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
