// The composition root: opens the stores, wires every feature, and shows each mounted path with its guard.

import { join } from 'node:path'
import { Hono } from 'hono'
import { html } from 'hono/html'
import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { openDashboard } from './dashboard.ts'
import { accountsApi } from './features/accounts/api.ts'
import { openLimiter, type RateLimiter } from './features/accounts/limits.ts'
import { signInEndpoints } from './features/accounts/public.ts'
import { analyticsApi } from './features/analytics/api.ts'
import { leadsApi } from './features/analytics/leads-api.ts'
import { openScratch } from './features/analytics/scratch.ts'
import { creditTouches } from './features/attribution/credit.ts'
import { eventIds } from './features/attribution/event-id.ts'
import { openAttribution } from './features/attribution/infer.ts'
import { joinVisits } from './features/attribution/joined.ts'
import { intake } from './features/attribution/public.ts'
import { openSnippet } from './features/attribution/script.ts'
import { openSenders } from './features/attribution/sender.ts'
import { workspaceNames } from './features/attribution/workspace-names.ts'
import { formsApi } from './features/forms/api.ts'
import { type Attempts, openAttempts } from './features/forms/attempts.ts'
import { openCaptcha } from './features/forms/captcha.ts'
import { formCheckApi } from './features/forms/check-api.ts'
import { formFacts } from './features/forms/form-facts.ts'
import { lossesApi } from './features/forms/losses-api.ts'
import { thanksPage } from './features/forms/pages.ts'
import { formEndpoint } from './features/forms/public.ts'
import { type ClickIds, clickIds } from './features/hits/click-id.ts'
import { retainedSince } from './features/hits/pruning.ts'
import { ensureSalts } from './features/hits/salts.ts'
import { openShipper, type Shipper } from './features/hits/ship.ts'
import { openSpool } from './features/hits/spool.ts'
import { createSaltBook, type SaltOf } from './features/hits/visitor.ts'
import { linksApi } from './features/links/api.ts'
import { type LinkCache, linkCache } from './features/links/cache.ts'
import { countClicks, countedBatch } from './features/links/count-clicks.ts'
import type { Site } from './features/links/link.ts'
import { reservedSlugs } from './features/links/slug.ts'
import { notifyApi } from './features/notify/api.ts'
import { redirectApi } from './features/redirect/api.ts'
import { shortLinks } from './features/redirect/public.ts'
import { hitFigures } from './figures.ts'
import { answerFailure } from './http/answer.ts'
import { openMail } from './http/mail.ts'
import { type OperationsNeeds, operations } from './http/operations.ts'
import { page, wantsJson } from './http/page.ts'
import type { Peers } from './http/peers.ts'
import { reference } from './http/reference.ts'
import { requestId } from './http/request-id.ts'
import { proveSafeRequest } from './http/safe-request.ts'
import { startJobs } from './jobs.ts'
import { notFound } from './lib/failure.ts'
import { type Notify, openNotify } from './notify.ts'
import { restApi } from './rest.ts'
import { type Geo, openGeo } from './storage/geo.ts'
import { lockDataDir } from './storage/lock.ts'
import { openRows, type Rows } from './storage/rows/open.ts'

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
  await proveSafeRequest()
  const lock = lockDataDir(config.dataDir)
  const rows = await openRows(config).catch((error) => {
    lock.release()
    throw error
  })
  const site = siteOf(config)
  const salts = createSaltBook()
  const { spool, shipper } = await openHits(config, rows, site, now, salts)
  const cache = linkCache({ timeToLiveMs: rows.engine === 'postgres' ? SHARED_CACHE_MS : undefined })
  const geo = geoWhenAsked(config.geoipDb)
  const ids = clickIds(config.secret, spool.node)
  const limiter = openLimiter(rows, clock, config.secret)
  let draining = false

  const { trustProxy } = config
  const short = shortLinks({ rows, cache, site, spool, clickIds: ids, geo, trustProxy, now })
  const attribution = openAttribution({ rows, hits: shipper, clickIds: ids, cache })
  const { settleAttribution } = attribution
  const notify = await openNotify(config, { rows, now, settleAttribution })
  const shared = { rows, limiter, site, cache, notify, now }
  const pages = openPages(config, { ...shared, spool, clickIds: ids, saltOf: salts.of, geo, clock })
  const { attempts } = pages
  const forgetWorkspace = (id: number) => {
    cache.forgetWorkspace(id)
    pages.forgetWorkspace(id)
  }
  const rest = openRest(config, { ...shared, hits: shipper, settleAttribution, attempts, forgetWorkspace })

  const signIn = signInEndpoints({ ...config, rows, limiter, now, sendMail: openMail(config) })
  const open = openPaths({
    probe: rows.probe,
    draining: () => draining,
    version: manifest.version,
    figures: () => [...hitFigures(spool, shipper), ...pages.figures(), ...notify.figures()],
  })
  const jobs = startJobs({
    rows,
    now,
    setSalts: (fresh) => {
      salts.set(fresh)
      shipper.setSalts(fresh)
    },
    hitRetentionDays: config.hitRetentionDays,
    forgetHits: shipper.forgetBefore,
    node: spool.node,
    forgetWorkspace,
    eraseHits: shipper.eraseHits,
    settleAttribution: attribution.settleAll,
  })

  return {
    rows,
    spool,
    shipper,
    site,
    serve: serveWith(config, site, { short, pages, rest, signIn, open }),
    redirect: short.quickly,
    post: pages.see.quickly,
    restRoutes: () => rest.routes,
    startDraining() {
      draining = true
    },
    /** Ends in order: jobs, deliveries, counts, batches and engine, the spool they read, the rows. */
    async close() {
      await jobs.stop()
      await notify.close()
      await attempts.close()
      await shipper.close()
      await spool.close()
      await rows.close()
      lock.release()
    },
  }
}

interface RestNeeds {
  rows: Rows
  limiter: RateLimiter
  site: Site
  cache: LinkCache
  hits: Shipper
  notify: Notify
  now: () => number
  settleAttribution: (workspaceId: number) => Promise<void>
  attempts: Attempts
  forgetWorkspace: (workspaceId: number) => void
}

/** /v1/*: an API key of the workspace, or one of its people (but for the description of the API itself). */
function openRest(config: Config, needs: RestNeeds) {
  const { rows, limiter, site, cache, hits, notify, now, settleAttribution, attempts } = needs
  const { forgetWorkspace } = needs
  const { origin, turnstile, webhookAllow, snippetPath, defaultPlan } = config
  const analytics = { rows, hits, now, defaultDomain: site.domain }
  return restApi({
    rows,
    limiter,
    now,
    origin,
    version: manifest.version,
    features: [
      accountsApi({
        limiter,
        now,
        origin,
        snippetPath,
        defaultPlan,
        sendMail: openMail(config),
        forgetWorkspace,
      }),
      linksApi({ cache, site, now }),
      redirectApi({ site, now }),
      analyticsApi({ ...analytics, scratchDir: openScratch(config.dataDir) }),
      leadsApi({ ...analytics, settleAttribution }),
      formsApi({ origin, now, settleAttribution }),
      lossesApi({ attempts, now }),
      formCheckApi({ origin, turnstile: turnstile !== undefined, allow: webhookAllow }),
      notifyApi(notify.api),
    ],
  })
}

type Fetch = (request: Request, server: Peers) => Response | Promise<Response>

interface Answering {
  short: ReturnType<typeof shortLinks>
  pages: Pages
  rest: ReturnType<typeof restApi>
  signIn: ReturnType<typeof signInEndpoints>
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
      '/:slug': (request: Bun.BunRequest<'/:slug'>, server: Peers) =>
        short.answer(request, server, request.params.slug),
    },
    fetch,
    error: (error: Error) => answerFailure(error, requestId(null)),
    // Bun's own error page shows source code.
    development: false,
    idleTimeout: IDLE_SECONDS,
    // Larger bodies than ours are refused by the routes, each in its own words.
    maxRequestBodySize: 64 * 1024 * 1024,
  }
}

const NOT_FOUND = html`<h1>Not found</h1><p>There is nothing at this address.</p>`

/** Spool and ship worker: what a redirect records into, and what analytics are answered from. */
async function openHits(config: Config, rows: Rows, site: Site, now: () => number, salts: SaltBook) {
  const spool = await openSpool({ dir: join(config.dataDir, 'spool'), now })
  const current = await ensureSalts({ rows, now: now() })
  salts.set(current)
  const shipper = openShipper({
    dataDir: config.dataDir,
    spool,
    salts: current,
    ownHosts: site.ownHosts,
    geoPath: config.geoipDb,
    countedUpTo: await countedBatch(rows, spool.node),
    since: config.hitRetentionDays === undefined ? 0 : retainedSince(now(), config.hitRetentionDays),
    onShipped: (batch) => countClicks(rows, batch),
    now,
  })
  return { spool, shipper }
}

interface PagesNeeds {
  rows: Rows
  limiter: RateLimiter
  site: Site
  spool: Spool
  cache: LinkCache
  notify: Notify
  clickIds: ClickIds
  saltOf: SaltOf
  geo: () => Geo
  now: () => number
  clock?: () => number
}
type Pages = ReturnType<typeof openPages>

/** What pages on other sites talk to: the form endpoint, and the snippet with its intake. */
function openPages(config: Config, needs: PagesNeeds) {
  const { rows, limiter, site, spool, cache, notify, clickIds, saltOf, geo, now, clock } = needs
  const { secret, origin, trustProxy, turnstile, intakePath, dataDir } = config
  const captcha = openCaptcha({ secret, turnstile, now })
  const ownHosts = new Set(site.ownHosts)
  const ids = eventIds(secret)
  const workspaces = workspaceNames(rows)
  const attempts = openAttempts({ rows, now })
  return {
    submit: formEndpoint({
      rows,
      limiter,
      now,
      saltOf,
      origin,
      trustProxy,
      captcha,
      attempts,
      describeSender: openSenders({ geo, saltOf, ownHosts: () => ownHosts }),
      joinVisit: joinVisits({ clickIds, eventIds: ids, ownHosts }),
      creditTouches: creditTouches({ cache }),
      wakeDeliverer: notify.wake,
    }),
    see: intake({
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
    facts: formFacts({ rows, captcha }),
    snippet: openSnippet({ origin, intakePath, dataDir }),
    attempts,
    figures: captcha.figures,
    forgetWorkspace: workspaces.forget,
  }
}

/** Opened when something asks for a place for the first time: the database takes 8 MB. */
function geoWhenAsked(path: string | undefined): () => Geo {
  let geo: Geo | undefined
  return () => {
    geo ??= openGeo(path)
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
    .route('/', operations(needs))
    .route('/', reference())
    .get('/', (c) => c.redirect('/app'))
    .get('/thanks', () => thanksPage())
    .get('/robots.txt', (c) => c.text('User-agent: *\nDisallow: /\n'))
    .notFound((c) => {
      if (wantsJson(c.req.header('accept') ?? null)) return answerFailure(notFound(''), c.get('requestId'))
      return page(404, 'Not found', NOT_FOUND)
    })
    .onError((error, c) => answerFailure(error, c.get('requestId')))
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
    reserved: reservedSlugs([config.snippetPath, config.intakePath]),
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

type SaltBook = ReturnType<typeof createSaltBook>
type Spool = Awaited<ReturnType<typeof openSpool>>
