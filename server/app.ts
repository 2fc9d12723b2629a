// The composition root: opens the stores, wires every feature, and shows each mounted path with its guard.

import { join } from 'node:path'
import { Hono } from 'hono'
import { html } from 'hono/html'
import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { openDashboard } from './dashboard.ts'
import { createRateLimiter, type RateLimiter } from './features/accounts/access/rate-limiter.ts'
import { createAccountsApi } from './features/accounts/api.ts'
import { createAuthEndpoints } from './features/accounts/public.ts'
import { createAnalyticsApi } from './features/analytics/api.ts'
import { prepareScratchDirectory } from './features/analytics/export-directory.ts'
import { createLeadsApi } from './features/analytics/leads-api.ts'
import { createClickInference } from './features/attribution/infer-clicks.ts'
import { createVisitMatcher } from './features/attribution/match-visit.ts'
import { createTouchRecorder } from './features/attribution/record-touches.ts'
import { createSenderDescriber } from './features/attribution/sender.ts'
import { createFormsApi } from './features/forms/api.ts'
import { type AttemptCounter, openAttemptCounter } from './features/forms/attempts/attempt-counter.ts'
import { createLossesApi } from './features/forms/attempts/losses-api.ts'
import { createCaptchaProvider } from './features/forms/captcha/captcha-provider.ts'
import { createFormInfoEndpoint } from './features/forms/endpoint/form-info.ts'
import { thanksPage } from './features/forms/endpoint/pages.ts'
import { createFormCheckApi } from './features/forms/page-check/check-api.ts'
import { createFormEndpoint } from './features/forms/public.ts'
import { toRetentionStart } from './features/hits/batches/retention.ts'
import { type ClickIds, createClickIds } from './features/hits/click-id.ts'
import { openSpool } from './features/hits/spool/spool.ts'
import { type HitWorkerClient, openHitWorkerClient } from './features/hits/worker/client.ts'
import { createLinksApi } from './features/links/api.ts'
import { createLinkCache, type LinkCache } from './features/links/cache.ts'
import { countClicks, getCountedBatch } from './features/links/count-clicks.ts'
import type { Site } from './features/links/link.ts'
import { toReservedSlugs } from './features/links/slug.ts'
import { createNotifyApi } from './features/notify/api.ts'
import { createRedirectApi } from './features/redirect/api.ts'
import { createRedirects } from './features/redirect/public.ts'
import { createEventIds } from './features/tracking/event-id.ts'
import { createPageViewIntake } from './features/tracking/public.ts'
import { createSnippet } from './features/tracking/snippet.ts'
import { createWorkspaceLookup } from './features/tracking/workspace-lookup.ts'
import { ensureSalts } from './features/visitors/salts.ts'
import { createDailySalts, type SaltLookup } from './features/visitors/visitor-id.ts'
import { hitFigures } from './figures.ts'
import { createApiDocs } from './http/api-docs.ts'
import { toErrorResponse } from './http/error-response.ts'
import { createHealthAndMetrics, type OperationsNeeds } from './http/health-and-metrics.ts'
import { renderHtmlPage, wantsJson } from './http/html-page.ts'
import { requestId } from './http/request-id.ts'
import { verifySafeRequest } from './http/safe-request.ts'
import { createMailSender } from './http/send-mail.ts'
import type { ServerHandle } from './http/server-handle.ts'
import { startJobs } from './jobs.ts'
import { notFound } from './lib/failure.ts'
import { type Notify, openNotify } from './notify.ts'
import { createRestApi } from './rest.ts'
import { type Database, openDatabase } from './storage/database/open-database.ts'
import { createGeoLookup, type GeoLookup } from './storage/geo.ts'
import { lockDataDir } from './storage/lock.ts'

// Another process's change to a link is noticed within this time; one machine notices at once.
const SHARED_CACHE_MS = 2_000

// Honest slow uploads pass, and a client that drips its request is still cut off (Bun counts in seconds).
const IDLE_SECONDS = 30

export interface AppOptions {
  now?: () => number
  /** Monotonic milliseconds for limits. */
  clock?: () => number
}

/** Everything but the listening socket. @throws when a store cannot be opened, or a guard does not hold */
export async function openApp(config: Config, { now = Date.now, clock }: AppOptions = {}) {
  await verifySafeRequest()
  const lock = lockDataDir(config.dataDir)
  const db = await openDatabase(config).catch((error) => {
    lock.release()
    throw error
  })
  const site = siteOf(config)
  const salts = createDailySalts()
  const { spool, hitWorker } = await openHits(config, db, site, now, salts)
  const cache = createLinkCache({ timeToLiveMs: db.engine === 'postgres' ? SHARED_CACHE_MS : undefined })
  const geo = geoWhenAsked(config.geoipDb)
  const ids = createClickIds(config.secret, spool.node)
  const limiter = createRateLimiter(db, clock, config.secret)
  let draining = false

  const { trustProxy } = config
  const short = createRedirects({ db, cache, site, spool, clickIds: ids, geo, trustProxy, now })
  const attribution = createClickInference({ db, hits: hitWorker, clickIds: ids, cache })
  const { resolvePendingAttribution } = attribution
  const notify = await openNotify(config, { db, now, resolvePendingAttribution })
  const shared = { db, limiter, site, cache, notify, now }
  const pages = openPages(config, { ...shared, spool, clickIds: ids, getSalt: salts.of, geo, clock })
  const { attempts } = pages
  const invalidateWorkspace = (id: number) => {
    cache.invalidateWorkspace(id)
    pages.invalidateWorkspace(id)
  }
  const rest = openRest(config, {
    ...shared,
    hits: hitWorker,
    resolvePendingAttribution,
    attempts,
    invalidateWorkspace,
  })

  const signIn = createAuthEndpoints({ ...config, db, limiter, now, sendMail: createMailSender(config) })
  const open = openPaths({
    probe: db.probe,
    draining: () => draining,
    version: manifest.version,
    metrics: () => [...hitFigures(spool, hitWorker), ...pages.metrics(), ...notify.metrics()],
  })
  const jobs = startJobs({
    db,
    now,
    setSalts: (fresh) => {
      salts.set(fresh)
      hitWorker.setSalts(fresh)
    },
    hitRetentionDays: config.hitRetentionDays,
    forgetHits: hitWorker.pruneHits,
    node: spool.node,
    invalidateWorkspace,
    eraseHits: hitWorker.eraseHits,
    resolvePendingAttribution: attribution.resolveAllPending,
  })

  return {
    db,
    spool,
    hitWorker,
    site,
    serve: serveWith(config, site, { short, pages, rest, signIn, open }),
    redirect: short.tryFastPath,
    post: pages.see.tryFastPath,
    restRoutes: () => rest.routes,
    startDraining() {
      draining = true
    },
    /** Ends in order: jobs, deliveries, counts, batches and engine, the spool they read, the rows. */
    async close() {
      await jobs.stop()
      await notify.close()
      await attempts.close()
      await hitWorker.close()
      await spool.close()
      await db.close()
      lock.release()
    },
  }
}

interface RestNeeds {
  db: Database
  limiter: RateLimiter
  site: Site
  cache: LinkCache
  hits: HitWorkerClient
  notify: Notify
  now: () => number
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
  attempts: AttemptCounter
  invalidateWorkspace: (workspaceId: number) => void
}

/** /v1/*: an API key of the workspace, or one of its people (but for the description of the API itself). */
function openRest(config: Config, needs: RestNeeds) {
  const { db, limiter, site, cache, hits, notify, now, resolvePendingAttribution, attempts } = needs
  const { invalidateWorkspace } = needs
  const { origin, turnstile, webhookAllow, snippetPath, defaultPlan } = config
  const analytics = { db, hits, now, defaultDomain: site.domain }
  return createRestApi({
    db,
    limiter,
    now,
    origin,
    version: manifest.version,
    features: [
      createAccountsApi({
        limiter,
        now,
        origin,
        snippetPath,
        defaultPlan,
        sendMail: createMailSender(config),
        invalidateWorkspace,
      }),
      createLinksApi({ cache, site, now }),
      createRedirectApi({ site, now }),
      createAnalyticsApi({ ...analytics, scratchDir: prepareScratchDirectory(config.dataDir) }),
      createLeadsApi({ ...analytics, resolvePendingAttribution }),
      createFormsApi({ origin, now, resolvePendingAttribution }),
      createLossesApi({ attempts, now }),
      createFormCheckApi({ origin, turnstile: turnstile !== undefined, allow: webhookAllow }),
      createNotifyApi(notify.api),
    ],
  })
}

type Fetch = (request: Request, server: ServerHandle) => Response | Promise<Response>

interface Answering {
  short: ReturnType<typeof createRedirects>
  pages: Pages
  rest: ReturnType<typeof createRestApi>
  signIn: ReturnType<typeof createAuthEndpoints>
  open: ReturnType<typeof openPaths>
}

/** What `Bun.serve` takes: what strangers' browsers ask for has native routes, everything else goes through Hono. */
function serveWith(config: Config, site: Site, { short, pages, rest, signIn, open }: Answering) {
  const { snippetPath, intakePath } = config
  const fetch: Fetch = (request, server) => {
    const pathname = pathOf(request.url)
    if (pathname === '/v1' || pathname.startsWith('/v1/')) {
      return rest.fetch(request, { setIdleSeconds: (seconds: number) => server.timeout(request, seconds) })
    }
    const slug = /^\/([^/]+)\/+$/.exec(pathname)?.[1]
    if (slug !== undefined && !site.reserved.has(slug)) return short.answer(request, server, decodeSlug(slug))
    return open.fetch(request)
  }
  const dashboard = openDashboard(config)
  const submit: Fetch = (request, server) =>
    pages.submit(request, server, pathOf(request.url).slice('/f'.length))
  return {
    routes: {
      ...Object.fromEntries(['', ...site.reserved].map((path) => [`/${path}`, fetch])),
      '/app': dashboard,
      '/app/*': dashboard,
      '/api/auth/*': signIn,
      '/f': submit,
      '/f/*': submit,
      [`/${snippetPath}`]: pages.snippet.moving,
      [`/${intakePath}`]: pages.see.answer,
      [`/${intakePath}/forms`]: pages.facts,
      [`/${intakePath}/:file`]: pages.snippet.named,
      '/:slug': (request: Bun.BunRequest<'/:slug'>, server: ServerHandle) =>
        short.answer(request, server, request.params.slug),
    },
    fetch,
    error: (error: Error) => toErrorResponse(error, requestId(null)),
    // Bun's own error page shows source code.
    development: false,
    idleTimeout: IDLE_SECONDS,
    // Larger bodies than ours are refused by the routes, each in its own words.
    maxRequestBodySize: 64 * 1024 * 1024,
  }
}

const NOT_FOUND = html`<h1>Not found</h1><p>There is nothing at this address.</p>`

/** Spool and ship worker: what a redirect records into, and what analytics are answered from. */
async function openHits(config: Config, db: Database, site: Site, now: () => number, salts: SaltBook) {
  const spool = await openSpool({ dir: join(config.dataDir, 'spool'), now })
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
  return { spool, hitWorker }
}

interface PagesNeeds {
  db: Database
  limiter: RateLimiter
  site: Site
  spool: Spool
  cache: LinkCache
  notify: Notify
  clickIds: ClickIds
  getSalt: SaltLookup
  geo: () => GeoLookup
  now: () => number
  clock?: () => number
}
type Pages = ReturnType<typeof openPages>

/** What pages on other sites talk to: the form endpoint, and the snippet with its intake. */
function openPages(config: Config, needs: PagesNeeds) {
  const { db, limiter, site, spool, cache, notify, clickIds, getSalt, geo, now, clock } = needs
  const { secret, origin, trustProxy, turnstile, intakePath, dataDir } = config
  const captcha = createCaptchaProvider({ secret, turnstile, now })
  const ownHosts = new Set(site.ownHosts)
  const ids = createEventIds(secret)
  const workspaces = createWorkspaceLookup(db)
  const attempts = openAttemptCounter({ db, now })
  return {
    submit: createFormEndpoint({
      db,
      limiter,
      now,
      getSalt,
      origin,
      trustProxy,
      captcha,
      attempts,
      describeSender: createSenderDescriber({ geo, getSalt, ownHosts: () => ownHosts }),
      joinVisit: createVisitMatcher({ clickIds, eventIds: ids, ownHosts }),
      creditTouches: createTouchRecorder({ cache }),
      wakeDeliverer: notify.wake,
    }),
    see: createPageViewIntake({
      path: intakePath,
      spool,
      clickIds,
      eventIds: ids,
      workspaces,
      ownHosts,
      trustProxy,
      now,
      clock,
    }),
    facts: createFormInfoEndpoint({ db, captcha }),
    snippet: createSnippet({ origin, intakePath, dataDir }),
    attempts,
    metrics: captcha.metrics,
    invalidateWorkspace: workspaces.invalidate,
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

/** Paths that are open to everybody. */
function openPaths(needs: OperationsNeeds) {
  // Not strict: `/docs/` is `/docs`, as a slug with a slash is the slug.
  return new Hono<{ Variables: { requestId: string } }>({ strict: false })
    .use(async (c, next) => {
      c.set('requestId', requestId(c.req.header('x-request-id')))
      await next()
      c.res.headers.set('X-Request-Id', c.get('requestId'))
    })
    .route('/', createHealthAndMetrics(needs))
    .route('/', createApiDocs())
    .get('/', (c) => c.redirect('/app'))
    .get('/thanks', () => thanksPage())
    .get('/robots.txt', (c) => c.text('User-agent: *\nDisallow: /\n'))
    .notFound((c) => {
      if (wantsJson(c.req.header('accept') ?? null)) return toErrorResponse(notFound(''), c.get('requestId'))
      return renderHtmlPage(404, 'Not found', NOT_FOUND)
    })
    .onError((error, c) => toErrorResponse(error, c.get('requestId')))
}

export type App = Awaited<ReturnType<typeof openApp>>

function siteOf(config: Config): Site {
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

/** By hand: with a broken Host header a request's URL is its path alone, or one that no parser takes. */
function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  return start < 0 ? '/' : (/^[^?#]*/.exec(url.slice(start))?.[0] ?? '/')
}

function decodeSlug(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not a slug anybody could have made; it is looked up as it stands, and recorded as a miss.
    return text
  }
}

type SaltBook = ReturnType<typeof createDailySalts>
type Spool = Awaited<ReturnType<typeof openSpool>>
