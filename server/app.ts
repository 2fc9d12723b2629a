// The composition root: opens the stores, wires every feature, and shows each mounted path with its guard.

import { join } from 'node:path'
import { Hono } from 'hono'
import { html } from 'hono/html'
import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { openLimiter } from './features/accounts/limits.ts'
import { analyticsApi } from './features/analytics/api.ts'
import { openScratch } from './features/analytics/scratch.ts'
import { openAttribution } from './features/attribution/infer.ts'
import { openSenders } from './features/attribution/sender.ts'
import { formsApi } from './features/forms/api.ts'
import { openCaptcha } from './features/forms/captcha.ts'
import { formCheckApi } from './features/forms/check-api.ts'
import { formFacts } from './features/forms/form-facts.ts'
import { thanksPage } from './features/forms/pages.ts'
import { type FormEndpointNeeds, formEndpoint } from './features/forms/public.ts'
import { clickIds } from './features/hits/click-id.ts'
import { retainedSince } from './features/hits/pruning.ts'
import { ensureSalts } from './features/hits/salts.ts'
import { openShipper } from './features/hits/ship.ts'
import { openSpool } from './features/hits/spool.ts'
import { createSaltBook } from './features/hits/visitor.ts'
import { linksApi } from './features/links/api.ts'
import { linkCache } from './features/links/cache.ts'
import { countClicks, countedBatch } from './features/links/count-clicks.ts'
import type { Site } from './features/links/link.ts'
import { RESERVED_SLUGS } from './features/links/slug.ts'
import { redirectApi } from './features/redirect/api.ts'
import { shortLinks } from './features/redirect/public.ts'
import { answerFailure } from './http/answer.ts'
import { type Figure, type OperationsNeeds, operations } from './http/operations.ts'
import { page, wantsJson } from './http/page.ts'
import type { Peers } from './http/peers.ts'
import { reference } from './http/reference.ts'
import { requestId } from './http/request-id.ts'
import { proveSafeRequest } from './http/safe-request.ts'
import { startJobs } from './jobs.ts'
import { notFound } from './lib/failure.ts'
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
  const scratchDir = openScratch(config.dataDir)
  const salts = createSaltBook()
  const { spool, shipper } = await openHits(config, rows, site, now, salts)
  const cache = linkCache({ timeToLiveMs: rows.engine === 'postgres' ? SHARED_CACHE_MS : undefined })
  const geo = geoWhenAsked(config.geoipDb)
  const ids = clickIds(config.secret, spool.node)
  const limiter = openLimiter(rows, clock, config.secret)
  let draining = false

  const { origin, trustProxy, turnstile, webhookAllow } = config
  const short = shortLinks({ rows, cache, site, spool, clickIds: ids, geo, trustProxy, now })
  const { version } = manifest
  const attribution = openAttribution({ rows, hits: shipper, clickIds: ids })
  const forms = openForms(config, { rows, limiter, site, saltOf: salts.of, geo, now })

  // /v1/*: an API key of the workspace (but for the description of the API itself).
  const rest = restApi({
    rows,
    limiter,
    now,
    origin,
    version,
    features: [
      linksApi({ cache, site, now }),
      redirectApi({ site, now }),
      analyticsApi({ rows, hits: shipper, now, defaultDomain: site.domain, scratchDir }),
      formsApi({ origin, now, settleAttribution: attribution.settleAttribution }),
      formCheckApi({ origin, turnstile: turnstile !== undefined, allow: webhookAllow }),
    ],
  })

  const open = openPaths({
    probe: rows.probe,
    draining: () => draining,
    version,
    figures: () => [...figures(spool, shipper), ...forms.figures()],
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
    forgetWorkspace: cache.forgetWorkspace,
    eraseHits: shipper.eraseHits,
    settleAttribution: attribution.settleAll,
  })

  return {
    rows,
    spool,
    shipper,
    site,
    serve: serveWith(short, forms, { rest, open }),
    redirect: short.quickly,
    restRoutes: () => rest.routes,
    startDraining() {
      draining = true
    },
    /** Ends in order: jobs, batches and engine, the spool they read, the rows. */
    async close() {
      await jobs.stop()
      await shipper.close()
      await spool.close()
      await rows.close()
      lock.release()
    },
  }
}

type Fetch = (request: Request, server: Peers) => Response | Promise<Response>

interface Others {
  rest: ReturnType<typeof restApi>
  open: ReturnType<typeof openPaths>
}

/** What `Bun.serve` takes: redirect and form endpoint are native routes, everything else goes through Hono. */
function serveWith(short: ReturnType<typeof shortLinks>, forms: Forms, { rest, open }: Others) {
  const fetch: Fetch = (request, server) => {
    const pathname = pathOf(request.url)
    if (pathname === '/v1' || pathname.startsWith('/v1/')) {
      return rest.fetch(request, { setIdleSeconds: (seconds: number) => server.timeout(request, seconds) })
    }
    const slug = /^\/([^/]+)\/+$/.exec(pathname)?.[1]
    if (slug !== undefined && !RESERVED_SLUGS.has(slug))
      return short.answer(request, server, decodeSlug(slug))
    return open.fetch(request)
  }
  const submit: Fetch = (request, server) =>
    forms.submit(request, server, pathOf(request.url).slice('/f'.length))
  return {
    routes: {
      ...Object.fromEntries(['', ...RESERVED_SLUGS].map((path) => [`/${path}`, fetch])),
      '/f': submit,
      '/f/*': submit,
      '/e/forms': forms.facts,
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

const WELCOME = html`<h1>Towpath is running</h1>
<p>Short links and their clicks, over the REST API.</p>
<a class="button" href="/docs">Read the API reference</a>`

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

type FormsNeeds = Pick<FormEndpointNeeds, 'rows' | 'limiter' | 'saltOf' | 'now'> & {
  site: Site
  geo: () => Geo
}
type Forms = ReturnType<typeof openForms>

/** What pages on other sites talk to. */
function openForms(config: Config, { site, geo, ...needs }: FormsNeeds) {
  const { rows, saltOf, now } = needs
  const captcha = openCaptcha({ secret: config.secret, turnstile: config.turnstile, now })
  const ownHosts = new Set(site.ownHosts)
  return {
    submit: formEndpoint({
      ...needs,
      origin: config.origin,
      trustProxy: config.trustProxy,
      captcha,
      describeSender: openSenders({ geo, saltOf, ownHosts: () => ownHosts }),
    }),
    facts: formFacts({ rows, captcha }),
    figures: captcha.figures,
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
    .get('/app', () => page(200, 'Towpath', WELCOME))
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
type Shipper = ReturnType<typeof openShipper>

function figures(spool: Spool, shipper: Shipper): Figure[] {
  const { appended, waiting, dropped } = spool.stats()
  const state = shipper.state()
  return [
    { name: 'towpath_hits_total', kind: 'counter', help: 'Hits recorded since the start', value: appended },
    { name: 'towpath_hits_waiting', kind: 'gauge', help: 'Hits in memory for want of disk', value: waiting },
    {
      name: 'towpath_hits_dropped_total',
      kind: 'counter',
      help: 'Hits lost for want of disk',
      value: dropped,
    },
    {
      name: 'towpath_engine_up',
      kind: 'gauge',
      help: 'Whether analytics answer',
      value: Number(state.engineUp),
    },
    { name: 'towpath_engine_batch', kind: 'gauge', help: 'Last batch in the engine', value: state.mark },
    {
      name: 'towpath_batches_unreadable_total',
      kind: 'counter',
      help: 'Batches of hits set aside because the disk had damaged them',
      value: state.lost.batches,
    },
    {
      name: 'towpath_hits_unreadable_total',
      kind: 'counter',
      help: 'Hits in such batches, which analytics lack',
      value: state.lost.hits,
    },
    {
      name: 'towpath_resident_bytes',
      kind: 'gauge',
      help: 'Resident memory',
      value: process.memoryUsage.rss(),
    },
  ]
}
