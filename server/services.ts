// Opens the stores and wires the features: what app.ts mounts, what jobs.ts runs, and what main.ts closes.

import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { createRateLimiter } from './features/accounts/access/rate-limiter.ts'
import { prepareScratchDirectory } from './features/analytics/export-directory.ts'
import { createClickInference } from './features/attribution/infer-clicks.ts'
import { createVisitMatcher } from './features/attribution/match-visit.ts'
import { createTouchRecorder } from './features/attribution/record-touches.ts'
import { createSenderDescriber } from './features/attribution/sender.ts'
import { openAttemptCounter } from './features/forms/attempts/attempt-counter.ts'
import { createCaptchaProvider } from './features/forms/captcha/create-captcha-provider.ts'
import { createClickIds } from './features/hits/click-id.ts'
import { toRetentionStart } from './features/hits/retention.ts'
import { openSpool } from './features/hits/spool/spool.ts'
import { openHitWorkerClient } from './features/hits/worker/client.ts'
import { createLinkCache } from './features/links/cache.ts'
import { countClicks, getCountedBatch } from './features/links/count-clicks.ts'
import type { Site } from './features/links/link.ts'
import { toReservedSlugs } from './features/links/slug.ts'
import { createEventIds } from './features/tracking/event-id.ts'
import { createWorkspaceLookup } from './features/tracking/workspace-lookup.ts'
import { ensureSalts } from './features/visitors/ensure-salts.ts'
import { createDailySalts } from './features/visitors/salts.ts'
import { verifySafeRequest } from './http/safe-request.ts'
import { createMailSender } from './http/send-mail.ts'
import { startJobs } from './jobs.ts'
import { hitMetrics } from './metrics.ts'
import { type Notify, openNotify } from './notify.ts'
import { openDatabase } from './storage/database/open-database.ts'
import { createGeoLookup, type GeoLookup } from './storage/geo.ts'
import { lockDataDir } from './storage/lock.ts'

// Another process's change to a link is noticed within this time; one machine notices at once.
const SHARED_CACHE_MS = 2_000

export interface ServiceOptions {
  now?: () => number
  /** Monotonic milliseconds for limits. */
  clock?: () => number
}

export type Services = Awaited<ReturnType<typeof openServices>>

/**
 * Everything but the routes and the socket. Jobs and deliveries run from now on.
 * @throws when a store cannot be opened, or a guard does not hold
 */
export async function openServices(config: Config, { now = Date.now, clock }: ServiceOptions = {}) {
  await verifySafeRequest()
  const site = toSite(config)
  const stores = await openStores(config, site, now)
  const shared = createShared(config, { ...stores, site, now, clock })
  const attribution = createClickInference(shared)
  const { resolvePendingAttribution } = attribution
  const notify = await openNotify(config, { ...shared, resolvePendingAttribution })
  const endpoints = openPublicServices(config, shared, notify)
  const invalidateWorkspace = (id: number) => {
    shared.cache.invalidateWorkspace(id)
    endpoints.workspaces.invalidate(id)
  }
  const api = createApiServices(config, {
    ...shared,
    ...endpoints,
    notify,
    resolvePendingAttribution,
    invalidateWorkspace,
  })
  const jobs = startJobs({
    db: stores.db,
    now,
    setSalts: stores.setSalts,
    hitRetentionDays: config.hitRetentionDays,
    pruneHits: stores.hitWorker.pruneHits,
    node: stores.spool.node,
    invalidateWorkspace,
    eraseHits: stores.hitWorker.eraseHits,
    resolvePendingAttribution: attribution.resolveAllPending,
  })
  let draining = false
  return {
    ...stores,
    site,
    paths: config,
    redirects: { ...shared, trustProxy: config.trustProxy },
    intake: endpoints.intake,
    forms: endpoints.forms,
    formFacts: endpoints.formFacts,
    snippet: config,
    dashboard: config,
    signIn: { ...config, ...shared },
    api,
    operations: {
      probe: stores.db.probe,
      draining: () => draining,
      version: manifest.version,
      metrics: () => [
        ...hitMetrics(stores.spool, stores.hitWorker),
        ...endpoints.captcha.metrics(),
        ...notify.metrics(),
      ],
    },
    startDraining() {
      draining = true
    },
    /** Ends in order: jobs, deliveries, counts, and then the stores. */
    async close() {
      await jobs.stop()
      await notify.close()
      await endpoints.attempts.close()
      await stores.close()
    },
  }
}

/** The rows; and the spool and ship worker, which redirects record into and analytics are answered from. */
async function openStores(config: Config, site: Site, now: () => number) {
  const lock = lockDataDir(config.dataDir)
  const db = await openDatabase(config).catch((error) => {
    lock.release()
    throw error
  })
  const spool = await openSpool({ dir: join(config.dataDir, 'spool'), now })
  const salts = createDailySalts()
  const current = await ensureSalts({ db, now: now() })
  salts.set(current)
  const hitWorker = openHitWorkerClient({
    dataDir: config.dataDir,
    spool,
    salts: current,
    ownHosts: site.ownHosts,
    geoPath: config.geoipDb,
    countedUpTo: await getCountedBatch(db, spool.node),
    since: config.hitRetentionDays === undefined ? 0 : toRetentionStart(now(), config.hitRetentionDays),
    storeCounts: (batch) => countClicks(db, batch),
    now,
  })
  return {
    db,
    spool,
    hitWorker,
    getSalt: salts.get,
    setSalts(fresh: typeof current) {
      salts.set(fresh)
      hitWorker.setSalts(fresh)
    },
    /** Ends in order: batches and engine, the spool they read, the rows. */
    async close() {
      await hitWorker.close()
      await spool.close()
      await db.close()
      lock.release()
    },
  }
}

interface SharedNeeds extends Awaited<ReturnType<typeof openStores>> {
  site: Site
  now: () => number
  clock?: () => number
}
type Shared = ReturnType<typeof createShared>

/** What several features use, and of which there must be one. */
function createShared(config: Config, needs: SharedNeeds) {
  const { db, spool, hitWorker, getSalt, site, now, clock } = needs
  return {
    db,
    spool,
    hits: hitWorker,
    getSalt,
    site,
    now,
    clock,
    cache: createLinkCache({ timeToLiveMs: db.engine === 'postgres' ? SHARED_CACHE_MS : undefined }),
    geo: geoWhenAsked(config.geoipDb),
    clickIds: createClickIds(config.secret, spool.node),
    limiter: createRateLimiter(db, clock, config.secret),
    sendMail: createMailSender(config),
  }
}

/** What pages on other sites talk to: the form endpoint, and the snippet with its intake. */
function openPublicServices(config: Config, shared: Shared, notify: Notify) {
  const { db, site, clickIds, getSalt, geo, cache, now } = shared
  const { secret, origin, trustProxy, turnstile, intakePath } = config
  const captcha = createCaptchaProvider({ secret, turnstile, now })
  const ownHosts = new Set(site.ownHosts)
  const ids = createEventIds(secret)
  const workspaces = createWorkspaceLookup(db)
  const attempts = openAttemptCounter({ db, now })
  return {
    captcha,
    attempts,
    workspaces,
    forms: {
      ...shared,
      origin,
      trustProxy,
      captcha,
      attempts,
      describeSender: createSenderDescriber({ geo, getSalt, ownHosts: () => ownHosts }),
      matchVisit: createVisitMatcher({ clickIds, eventIds: ids, ownHosts }),
      recordTouches: createTouchRecorder({ cache }),
      wakeDeliverer: notify.wake,
    },
    formFacts: { db, captcha },
    intake: { ...shared, path: intakePath, eventIds: ids, workspaces, ownHosts, trustProxy },
  }
}

type PublicServices = ReturnType<typeof openPublicServices>

interface ApiServices extends Shared, Pick<PublicServices, 'attempts'> {
  notify: Notify
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
  invalidateWorkspace: (workspaceId: number) => void
}

/** What the routes of /v1 need, by feature. */
function createApiServices(config: Config, services: ApiServices) {
  const { db, limiter, hits, site, cache, now, sendMail, attempts, notify } = services
  const { resolvePendingAttribution, invalidateWorkspace } = services
  const { origin, secret, turnstile, webhookAllow, snippetPath, defaultPlan } = config
  const analytics = { db, hits, now, defaultDomain: site.domain }
  return {
    gates: { db, limiter, now, origin, secret, version: manifest.version },
    accounts: { limiter, now, origin, snippetPath, defaultPlan, sendMail, invalidateWorkspace },
    links: { cache, site, now },
    redirects: { site, now },
    analytics: { ...analytics, scratchDir: prepareScratchDirectory(config.dataDir) },
    leads: { ...analytics, resolvePendingAttribution },
    forms: { origin, now, resolvePendingAttribution },
    losses: { attempts, now },
    formCheck: { origin, turnstile: turnstile !== undefined, allow: webhookAllow },
    notify: notify.api,
  }
}

/** Opened when something asks for a place for the first time: the database takes 8 MB. */
function geoWhenAsked(path: string | undefined): () => GeoLookup {
  let geo: GeoLookup | undefined
  return () => {
    geo ??= createGeoLookup(path)
    return geo
  }
}

function toSite(config: Config): Site {
  const { host } = new URL(config.origin)
  const own = config.host.includes(':') ? `[${config.host.replace(/[[\]]/g, '')}]` : config.host
  const local = ['localhost', '127.0.0.1', '0.0.0.0', '[::1]', '[::]', own].map(
    (name) => `${name}:${config.port}`,
  )
  return {
    origin: config.origin,
    domain: host,
    ownHosts: [...new Set([host, ...local])],
    schemes: config.destinationSchemes,
    reserved: toReservedSlugs([config.snippetPath, config.intakePath]),
  }
}
