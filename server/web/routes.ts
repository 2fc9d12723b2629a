// The route map: every path, who may call it and what answers. A path that is not here is not reachable.

import { join, resolve } from 'node:path'
import { createLogoEndpoint } from '../features/accounts/brand/logo-endpoint.ts'
import { createFormInfoEndpoint } from '../features/forms/endpoint/form-info.ts'
import { createFormEndpoint } from '../features/forms/public.ts'
import { createFileLinkEndpoint } from '../features/forms/uploads/file-link-endpoint.ts'
import {
  createDomainFinder,
  createHostGate,
  type DomainAnswer,
  type Hosts,
} from '../features/links/domains/host-gate.ts'
import { answerUnknownPath, createDomainRoutes } from '../features/links/domains/public.ts'
import { createRedirects } from '../features/redirect/public.ts'
import { createPageViewIntake } from '../features/tracking/public.ts'
import { createSnippet } from '../features/tracking/snippet.ts'
import { createHeaderWrapper, toStrictTransportLine } from '../http/answer-headers.ts'
import type { FastPathOptions } from '../http/fast-path/listener.ts'
import type { PostRequest } from '../http/fast-path/request-parser.ts'
import type { Metric } from '../http/health-and-metrics.ts'
import { requireOneHost } from '../http/request-host.ts'
import { createPathMatcher, pathOf } from '../http/request-path.ts'
import type { Caller } from '../http/route-facts.ts'
import { toRouteTemplate } from '../http/route-table.ts'
import type { ServerHandle } from '../http/server-handle.ts'
import { type FastRequest, observeFastRequests, observeRequests } from '../http/telemetry/observe-requests.ts'
import { describeRequest } from '../lib/telemetry/request-context.ts'
import type { LaterNeeds } from './api.ts'
import { createDashboard } from './dashboard.ts'
import { createPages } from './pages.ts'

type Answer = (request: Bun.BunRequest<string>, server: ServerHandle) => Response | Promise<Response>

type NeedsOf<Create extends (...needs: never[]) => unknown> = Parameters<Create>[0]

/** Dependencies of the routes, by handler. start/services.ts opens them. */
export interface RouteNeeds {
  /** Opens the dependencies of the API and the sign-in, which are loaded after the start (docs/adr/0078). */
  openLater(): Promise<LaterNeeds>
  origin: string
  site: { reserved: Iterable<string> }
  paths: { snippetPath: string; intakePath: string }
  hosts: NeedsOf<typeof createHostGate> & NeedsOf<typeof createDomainRoutes>
  redirects: NeedsOf<typeof createRedirects>
  intake: NeedsOf<typeof createPageViewIntake>
  forms: NeedsOf<typeof createFormEndpoint>
  formInfo: NeedsOf<typeof createFormInfoEndpoint>
  fileLinks: NeedsOf<typeof createFileLinkEndpoint>
  snippet: NeedsOf<typeof createSnippet>
  dashboard: NeedsOf<typeof createDashboard>
  operations: NeedsOf<typeof createPages>
  observer: NeedsOf<typeof observeRequests>
  setConnectionMetrics(read: () => Metric[]): void
}

const DEFAULT: Hosts = 'default domain'
/** The default domain, and every domain of a workspace. */
const EVERY: Hosts = 'every domain'

/** Below /v1 and /api/auth, each route declares who may call it. docs/routes.md lists them all. */
type Callers = Extract<Caller, 'anybody'> | 'an API key' | 'each route says'

/** The callers, the methods, the path, the handler, the handler's file in server/, and the hosts. */
export type MountedPath = [Callers, string, string, DomainAnswer, string, Hosts]

/**
 * The most specific path answers, independent of the order. A path with DEFAULT does not exist on custom domains:
 * there it is looked up as a link. Paths that also answer there must be reserved there (`toReservedOnDomains`).
 */
const routeMap = (on: Handlers, { snippetPath, intakePath }: RouteNeeds['paths']): MountedPath[] => [
  ['anybody', 'GET, POST', '/:slug', on.slug, 'features/redirect/public.ts', EVERY],
  ['anybody', 'POST', '/f', on.form, 'features/forms/public.ts', EVERY],
  ['anybody', 'GET, POST', '/f/*', on.form, 'features/forms/public.ts', EVERY],
  ['anybody', 'GET', '/f/files/*', on.fileLink, 'features/forms/uploads/file-link-endpoint.ts', DEFAULT],
  ['anybody', 'GET', '/f/logo/*', on.logo, 'features/accounts/brand/logo-endpoint.ts', EVERY],
  ['anybody', 'GET', '/thanks', on.page, 'features/forms/endpoint/pages.ts', EVERY],
  ['anybody', 'GET', `/${snippetPath}`, on.snippet, 'features/tracking/snippet.ts', EVERY],
  ['anybody', 'GET', `/${intakePath}/:file`, on.pinnedSnippet, 'features/tracking/snippet.ts', EVERY],
  ['anybody', 'POST', `/${intakePath}`, on.pageView, 'features/tracking/public.ts', EVERY],
  ['anybody', 'GET', `/${intakePath}/forms`, on.formInfo, 'features/forms/endpoint/form-info.ts', EVERY],
  ['anybody', 'GET, POST', '/s/:token', on.sharedView, 'features/views/public.ts', DEFAULT],
  ['anybody', 'GET', '/', on.root, 'web/pages.ts', EVERY],
  ['anybody', 'GET', '/app', on.dashboard, 'web/dashboard.ts', DEFAULT],
  ['anybody', 'GET', '/app/*', on.dashboard, 'web/dashboard.ts', DEFAULT],
  ['anybody', 'GET', '/docs', on.page, 'http/api-docs/api-docs.ts', DEFAULT],
  ['anybody', 'GET', '/docs/:file', on.page, 'http/api-docs/api-docs.ts', DEFAULT],
  ['anybody', 'GET', '/robots.txt', on.page, 'web/pages.ts', EVERY],
  ['anybody', 'GET', '/favicon.ico', on.page, 'web/pages.ts', EVERY],
  ['anybody', 'GET', '/.well-known/*', on.wellKnown, 'features/links/domains/public.ts', EVERY],
  ['anybody', 'GET', '/tls/ask', on.tlsAsk, 'features/links/domains/public.ts', DEFAULT],
  ['anybody', 'GET', '/livez', on.page, 'http/health-and-metrics.ts', DEFAULT],
  ['anybody', 'GET', '/readyz', on.page, 'http/health-and-metrics.ts', DEFAULT],
  ['anybody', 'GET', '/version', on.page, 'http/health-and-metrics.ts', DEFAULT],
  ['anybody', 'GET', '/metrics', on.page, 'http/health-and-metrics.ts', DEFAULT],
  ['an API key', 'POST', '/mcp', on.mcp, 'features/mcp/public.ts', DEFAULT],
  ['each route says', 'GET, POST', '/api/auth/*', on.signIn, 'features/accounts/public.ts', DEFAULT],
  ['each route says', 'GET, POST', '/api/mail/*', on.mail, 'features/notify/public.ts', DEFAULT],
  ['each route says', 'GET', '/api/doctor/*', on.doctor, 'features/doctor/public.ts', DEFAULT],
  ['each route says', 'all', '/v1', on.api, 'web/api.ts', DEFAULT],
  ['each route says', 'all', '/v1/*', on.api, 'web/api.ts', DEFAULT],
]

/** Answered at the socket, before the map: plain GETs of /:slug, and plain POSTs of the intake. */
function fastPath(
  { redirects, pageViews, forms }: Handlers,
  { paths, origin, hosts, observer }: RouteNeeds,
): Pick<FastPathOptions, 'redirect' | 'post' | 'headers'> {
  const transport = toStrictTransportLine(origin)
  const findDomain = createDomainFinder(hosts)
  const { requests } = observer
  const observe = observeFastRequests(observer)
  const countRedirect = requests.createCounter('/{slug}', 'GET')
  const countPageView = requests.createCounter(`/${paths.intakePath}`, 'POST')
  const finish = <T extends { status: number; headers?: string }>(
    answer: T,
    count: (status: number) => void = () => {},
  ) => {
    count(answer.status)
    return transport === undefined ? answer : { ...answer, headers: (answer.headers ?? '') + transport }
  }
  return {
    redirect(head, address) {
      const domain = findDomain(head.headers, address)
      const answer = domain ? redirects.tryFastPath(head, address, domain) : null
      return answer && finish(answer, countRedirect)
    },
    post(head, address) {
      const domain = findDomain(head.headers, address)
      if (!domain) return null
      const answer = pageViews.tryFastPath(head, address, domain)
      if (answer) return finish(answer, countPageView)
      const answerLater = forms.tryFastPath(head, address, domain)
      const later = answerLater && observe(toFormRequest(head), answerLater)
      return later?.then((given) => finish(given)) ?? null
    },
    headers: transport,
  }
}

const toFormRequest = ({ path, headers }: PostRequest): FastRequest => ({
  route: '/f/*',
  method: 'POST',
  path: `/${path}`,
  headers,
})

interface FallbackParts {
  redirects: ReturnType<typeof createRedirects>
  pages: ReturnType<typeof createPages>
  later: ReturnType<typeof createLateHandlers>
}

/** Creates the handlers of paths that several features share: the API, a link, a page of the server, or 404. */
function createFallbacks(needs: RouteNeeds, { redirects, pages, later }: FallbackParts) {
  const onApi = later.answer('api')
  const onPage: Answer = (request, server) =>
    pages.fetch(request, { peer: server.requestIP(request)?.address })
  /** The server's own pages exist only on the default domain. */
  const onUnknown: DomainAnswer = (request, server, domain) =>
    domain.workspaceId === null
      ? onPage(request, server)
      : answerUnknownPath(request, { db: needs.redirects.db, domain })
  const onRoot: DomainAnswer = (request, server, domain) =>
    domain.workspaceId === null ? onPage(request, server) : redirects.answerRoot(request, domain)
  const onLink: DomainAnswer = (request, server, domain) => {
    const answer = redirects.answer(request, server, domain)
    if (answer) describeRequest({ route: '/{slug}' })
    return answer ?? onUnknown(request, server, domain)
  }
  /** Decides by the path with resolved dots, because Bun matches the path as it was sent. An unmounted path can be a link's. */
  const onResolvedPath: DomainAnswer = (request, server, domain) => {
    const path = pathOf(request.url)
    const isApi = domain.workspaceId === null && (path === '/v1' || path.startsWith('/v1/'))
    return isApi ? onApi(request, server) : onLink(request, server, domain)
  }
  return { onPage, onUnknown, onRoot, onLink, onResolvedPath }
}

/**
 * Imports the features of api.ts one after the other. Importing them together would delay visitors for a quarter of a
 * second.
 */
async function importFeatures(): Promise<void> {
  const features = resolve(import.meta.dirname, '../features')
  for (const file of new Bun.Glob('**/*api.ts').scanSync(features)) {
    await import(join(features, file))
    await Bun.sleep(0)
  }
}

/** The handlers of api.ts, which are loaded after the server listens. An earlier request waits for them. */
function createLateHandlers({ openLater }: Pick<RouteNeeds, 'openLater'>) {
  type Late = ReturnType<typeof import('./api.ts').createLaterHandlers>
  let late: Late | undefined
  let loading: Promise<Late> | undefined
  const loadNow = async () => {
    await importFeatures()
    const [{ createLaterHandlers }, needs] = await Promise.all([import('./api.ts'), openLater()])
    late = createLaterHandlers(needs)
    return late
  }
  const load = () => (loading ??= loadNow())
  return {
    load,
    answer:
      (name: Exclude<keyof Late, 'routes'>): Answer =>
      (request, server) =>
        late ? late[name](request, server) : load().then((loaded) => loaded[name](request, server)),
  }
}

type Handlers = ReturnType<typeof createHandlers>

function createHandlers(needs: RouteNeeds) {
  const redirects = createRedirects(needs.redirects)
  const pageViews = createPageViewIntake(needs.intake)
  const forms = createFormEndpoint(needs.forms)
  const answerFormInfo = createFormInfoEndpoint(needs.formInfo)
  const snippet = createSnippet(needs.snippet)
  const dashboard = createDashboard(needs.dashboard)
  const domainRoutes = createDomainRoutes(needs.hosts)
  const pages = createPages(needs.operations, needs.origin)
  const later = createLateHandlers(needs)
  const { onPage, onUnknown, onRoot, onLink, onResolvedPath } = createFallbacks(needs, {
    redirects,
    pages,
    later,
  })
  return {
    redirects,
    pageViews,
    forms,
    /** Loads the later routes, and lists the routes behind each path of the map with several routes. */
    loadRoutes: async () => ({ pages: pages.routes, ...(await later.load()).routes }),
    slug: onLink,
    form: ((request, server, domain) =>
      forms.answer(request, server, pathOf(request.url).slice('/f'.length), domain)) as DomainAnswer,
    fileLink: createFileLinkEndpoint(needs.fileLinks),
    logo: createLogoEndpoint(needs.redirects),
    sharedView: later.answer('sharedView'),
    snippet: snippet.latest,
    pinnedSnippet: snippet.versioned,
    pageView: pageViews.answer,
    formInfo: ((request, _server, domain) => answerFormInfo(request, domain)) as DomainAnswer,
    dashboard: dashboard.answer,
    prepareFiles: () => Promise.all([dashboard.prepare(), snippet.prepare()]),
    page: onPage,
    root: onRoot,
    wellKnown: ((request, server, domain) =>
      domainRoutes.answerWellKnown(request, domain) ?? onUnknown(request, server, domain)) as DomainAnswer,
    tlsAsk: ((request, server) =>
      domainRoutes.answerTlsAsk(request, server) ?? onPage(request, server)) as Answer,
    signIn: later.answer('signIn'),
    mail: later.answer('mail'),
    doctor: later.answer('doctor'),
    api: onResolvedPath,
    mcp: later.answer('mcp'),
    other: onResolvedPath,
  }
}

/** The route label in metrics for all other requests. */
const OTHER = 'other'

export type App = ReturnType<typeof createApp>

export function createApp(needs: RouteNeeds) {
  const handlers = createHandlers(needs)
  const map = routeMap(handlers, needs.paths)
  type Mount = [string, Answer]
  const addHeaders = createHeaderWrapper(needs.origin)
  const observe = observeRequests(needs.observer)
  const onHosts = createHostGate(needs.hosts, handlers.slug)
  const secure = (route: string, hosts: Hosts, answer: DomainAnswer): Answer =>
    addHeaders(observe(route, requireOneHost(onHosts(hosts, answer))))
  // Reserved names: paths of the map, and files that browsers and crawlers request on their own. No link can have such a slug.
  const reserved = [...needs.site.reserved].map(
    (name): Mount => [`/${name}`, secure(OTHER, DEFAULT, handlers.page)],
  )
  const other = secure(OTHER, EVERY, handlers.other)
  // Dots in a path are resolved before it is checked.
  const byResolvedPath = (path: string, answer: Answer): Answer => {
    const isMatch = createPathMatcher(path)
    return (request, server) => (isMatch(pathOf(request.url)) ? answer : other)(request, server)
  }
  const mounted = map.map(
    ([, , path, answer, , hosts]): Mount => [
      path,
      byResolvedPath(path, secure(toRouteTemplate(path), hosts, answer)),
    ],
  )
  return {
    serve: {
      routes: Object.fromEntries([...reserved, ...mounted]),
      fetch: other,
    },
    fastPath: fastPath(handlers, needs),
    setConnectionMetrics: needs.setConnectionMetrics,
    /** Builds the files for browsers, which the first request would do otherwise. */
    prepareFiles: handlers.prepareFiles,
    map,
    loadRoutes: handlers.loadRoutes,
  }
}
