// The route map: every path, who may call it and what answers. A path that is not here is not reachable.

import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { type ApiEnv, createApi } from '../features/accounts/access/api-env.ts'
import { freshOnly } from '../features/accounts/access/fresh-session.ts'
import { createGuard } from '../features/accounts/access/guard.ts'
import { createIdempotency } from '../features/accounts/access/idempotency.ts'
import { peopleOnly } from '../features/accounts/access/require-person.ts'
import { limitAnswer, requireScope } from '../features/accounts/access/require-scope.ts'
import { createAccountsApi } from '../features/accounts/api.ts'
import { createAuditApi } from '../features/accounts/audit-api.ts'
import { createLogoEndpoint } from '../features/accounts/brand/logo-endpoint.ts'
import { createAuthEndpoints } from '../features/accounts/public.ts'
import { createAnalyticsApi } from '../features/analytics/api.ts'
import { createAnalyticsBatchApi } from '../features/analytics/batch-api.ts'
import { createLinkClicksApi } from '../features/analytics/feed/link-clicks-api.ts'
import { createLeadsApi } from '../features/analytics/leads-api.ts'
import { createMissingApi } from '../features/analytics/missing/missing-api.ts'
import { createSparklinesApi } from '../features/analytics/sparklines-api.ts'
import { createDestinationsApi } from '../features/destinations/api.ts'
import { createDoctorApi } from '../features/doctor/api.ts'
import { createDoctorRoutes } from '../features/doctor/public.ts'
import { createFormsApi } from '../features/forms/api.ts'
import { createLossesApi } from '../features/forms/attempts/losses-api.ts'
import { createFormInfoEndpoint } from '../features/forms/endpoint/form-info.ts'
import { createFormTestApi } from '../features/forms/endpoint/test-api.ts'
import { createErasureApi } from '../features/forms/erasure/erasure-api.ts'
import { createFilesApi } from '../features/forms/files-api.ts'
import { createSubmissionApi } from '../features/forms/own-server/create-submission-api.ts'
import { createFormCheckApi } from '../features/forms/page-check/check-api.ts'
import { createFormEndpoint } from '../features/forms/public.ts'
import { createAllowedSendersApi } from '../features/forms/spam/allowed-senders-api.ts'
import { createFileLinkEndpoint } from '../features/forms/uploads/file-link-endpoint.ts'
import { createLinksApi } from '../features/links/api.ts'
import { createCardsApi } from '../features/links/cards/cards-api.ts'
import { createDomainsApi } from '../features/links/domains/domains-api.ts'
import {
  createDomainFinder,
  createHostGate,
  type DomainAnswer,
  type Hosts,
} from '../features/links/domains/host-gate.ts'
import { createDomainRoutes, nothingHere } from '../features/links/domains/public.ts'
import { createFaviconsApi } from '../features/links/favicons/favicons-api.ts'
import { createTrashApi } from '../features/links/trash/trash-api.ts'
import { createLiveApi } from '../features/live/api.ts'
import { createMcpEndpoint, requireKey, requirePost } from '../features/mcp/public.ts'
import { createNotifyApi } from '../features/notify/api.ts'
import { createMailRoutes } from '../features/notify/public.ts'
import { createOutcomesApi } from '../features/outcomes/api.ts'
import { createProofsApi } from '../features/proofs/api.ts'
import { createReconcileApi } from '../features/reconcile/api.ts'
import { createRedirectApi } from '../features/redirect/api.ts'
import { createRedirects } from '../features/redirect/public.ts'
import { createSplitsApi } from '../features/splits/api.ts'
import { createPageViewIntake } from '../features/tracking/public.ts'
import { createSnippet } from '../features/tracking/snippet.ts'
import { createImportsApi } from '../features/transfer/api.ts'
import { createExportApi } from '../features/transfer/export-api.ts'
import { createOutcomeImportApi } from '../features/transfer/outcomes-api.ts'
import { createViewsApi } from '../features/views/api.ts'
import { createSharedViews } from '../features/views/public.ts'
import { createHeaderWrapper, toStrictTransportLine } from '../http/answer-headers.ts'
import type { FastPathOptions } from '../http/fast-path/listener.ts'
import type { PostRequest } from '../http/fast-path/request-parser.ts'
import type { Metric } from '../http/health-and-metrics.ts'
import { jsonBody } from '../http/json-body.ts'
import { requireOneHost } from '../http/request-host.ts'
import { createPathMatcher, pathOf } from '../http/request-path.ts'
import type { Caller } from '../http/route-facts.ts'
import { toRouteTemplate } from '../http/route-table.ts'
import type { ServerHandle } from '../http/server-handle.ts'
import { type FastRequest, observeFastRequests, observeRequests } from '../http/telemetry/observe-requests.ts'
import { describeRequest } from '../lib/telemetry/request-context.ts'
import { createDashboard } from './dashboard.ts'
import { createPages } from './pages.ts'
import {
  answerApiFailure,
  describeApi,
  findRoute,
  logRequests,
  onSocket,
  type RestNeeds,
  requireReadableQuery,
  requireRoute,
} from './rest.ts'

type Answer = (request: Bun.BunRequest<string>, server: ServerHandle) => Response | Promise<Response>

type NeedsOf<Create extends (...needs: never[]) => unknown> = Parameters<Create>[0]

/** Dependencies of the routes, by handler. start/needs.ts opens them. */
export interface RouteNeeds {
  origin: string
  site: { reserved: Iterable<string> }
  paths: { snippetPath: string; intakePath: string }
  hosts: NeedsOf<typeof createHostGate> & NeedsOf<typeof createDomainRoutes>
  redirects: NeedsOf<typeof createRedirects>
  sharedViews: NeedsOf<typeof createSharedViews>
  intake: NeedsOf<typeof createPageViewIntake>
  forms: NeedsOf<typeof createFormEndpoint>
  formFacts: NeedsOf<typeof createFormInfoEndpoint>
  fileLinks: NeedsOf<typeof createFileLinkEndpoint>
  snippet: NeedsOf<typeof createSnippet>
  dashboard: NeedsOf<typeof createDashboard>
  signIn: NeedsOf<typeof createAuthEndpoints>
  mailRoutes: NeedsOf<typeof createMailRoutes>
  doctorRoutes: NeedsOf<typeof createDoctorRoutes>
  operations: NeedsOf<typeof createPages>
  observer: NeedsOf<typeof observeRequests>
  setConnectionMetrics(read: () => Metric[]): void
  /** Of /v1, by feature. */
  api: {
    gates: RestNeeds
    accounts: NeedsOf<typeof createAccountsApi> & NeedsOf<typeof createAuditApi>
    links: NeedsOf<typeof createLinksApi> & NeedsOf<typeof createTrashApi>
    cards: NeedsOf<typeof createCardsApi>
    favicons: NeedsOf<typeof createFaviconsApi>
    destinations: NeedsOf<typeof createDestinationsApi>
    domains: NeedsOf<typeof createDomainsApi>
    redirects: NeedsOf<typeof createRedirectApi>
    splits: NeedsOf<typeof createSplitsApi>
    exports: NeedsOf<typeof createExportApi>
    analytics: NeedsOf<typeof createAnalyticsApi> &
      NeedsOf<typeof createMissingApi> &
      NeedsOf<typeof createLinkClicksApi> &
      NeedsOf<typeof createSparklinesApi>
    leads: NeedsOf<typeof createLeadsApi> & NeedsOf<typeof createAnalyticsBatchApi>
    live: NeedsOf<typeof createLiveApi>
    erasure: NeedsOf<typeof createErasureApi>
    forms: NeedsOf<typeof createFormsApi> & NeedsOf<typeof createAllowedSendersApi>
    submissions: NeedsOf<typeof createSubmissionApi>
    files: NeedsOf<typeof createFilesApi>
    losses: NeedsOf<typeof createLossesApi>
    formTests: NeedsOf<typeof createFormTestApi>
    outcomes: NeedsOf<typeof createOutcomesApi>
    views: NeedsOf<typeof createViewsApi>
    formCheck: NeedsOf<typeof createFormCheckApi>
    notify: NeedsOf<typeof createNotifyApi>
    doctor: NeedsOf<typeof createDoctorApi>
    imports: NeedsOf<typeof createImportsApi>
  }
}

const DEFAULT: Hosts = 'default domain'
/** The default domain, and every domain of a workspace. */
const EVERY: Hosts = 'every domain'

/** Below /v1 and /api/auth, each route declares who may call it. docs/routes.md lists them all. */
type Callers = Extract<Caller, 'anybody'> | 'an API key' | 'each route says'

/** Who may call the path, its methods, the path, the handler, the handler's file in server/, and the hosts that it answers on. */
export type MountedPath = [Callers, string, string, DomainAnswer, string, Hosts]

/**
 * The most specific path answers, whatever the order. A path with DEFAULT does not exist on the domains of workspaces: there it
 * is looked up as a link's. What answers there too must be reserved there (`toReservedOnDomains`).
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
  ['anybody', 'GET', `/${intakePath}/forms`, on.formFacts, 'features/forms/endpoint/form-info.ts', EVERY],
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
  ['each route says', 'all', '/v1', on.api, 'web/rest.ts', DEFAULT],
  ['each route says', 'all', '/v1/*', on.api, 'web/rest.ts', DEFAULT],
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
  ...{ route: '/f/*', method: 'POST' },
  path: `/${path}`,
  headers,
})

/** /v1: the gates in the order in which a request passes them, and then the features' routes. */
export function restApi(needs: RestNeeds, features: OpenAPIHono<ApiEnv>[]) {
  const api = createApi().basePath('/v1')
  api.onError(answerApiFailure)
  api.use(logRequests)
  api.get('/openapi.json', describeApi(api, needs)) // open to anybody: the only route above the guard
  api.use(findRoute(api))
  api.use(createGuard(needs)) // 401, 403 for the plan, 429
  api.use(requireRoute) // 404, 405
  api.use(requireScope) // 403 for an API key
  api.use(limitAnswer) // the answer to a key that may write and not read
  api.use(freshOnly(needs)) // 403 for a person's session that is not fresh
  api.use(requireReadableQuery) // 422
  api.use(jsonBody((c: Context<ApiEnv>) => c.get('facts')?.body ?? 'object')) // 400, 413, 415
  api.use(createIdempotency(needs))
  api.use(peopleOnly) // 403 for an API key
  for (const feature of features) api.route('/', feature)
  return api
}

/** /mcp: the gates in the order in which a request passes them, and then the tools, which call /v1 with the same key. */
export function mcpApi(needs: RestNeeds, rest: OpenAPIHono<ApiEnv>) {
  const mcp = createApi()
  mcp.onError(answerApiFailure)
  mcp.use(logRequests)
  mcp.use(requirePost) // 405
  mcp.use(requireKey(needs)) // 403 for a page of another site, 401
  mcp.use(createGuard(needs)) // 401, 403 for the plan, 429
  mcp.use(jsonBody(() => 'object')) // 400, 413, 415
  mcp.post('/mcp', createMcpEndpoint({ ...needs, callApi: rest.fetch }))
  return mcp
}

/** The routes of each feature, with the feature's needs. */
const createRest = ({ api }: RouteNeeds) =>
  restApi(api.gates, [
    createAccountsApi(api.accounts),
    createAuditApi(api.accounts),
    createTrashApi(api.links), // above `/links/{id}`
    createCardsApi(api.cards), // above `/links/{id}`
    createFaviconsApi(api.favicons), // above `/links/{id}`
    createExportApi(api.exports), // above `/links/{id}`
    createLinkClicksApi(api.analytics),
    createLinksApi(api.links),
    createDestinationsApi(api.destinations),
    createDomainsApi(api.domains),
    createRedirectApi(api.redirects),
    createSplitsApi(api.splits),
    createAnalyticsApi(api.analytics),
    createSparklinesApi(api.analytics),
    createLeadsApi(api.leads),
    createAnalyticsBatchApi(api.leads),
    createLiveApi(api.live),
    createMissingApi(api.analytics),
    createReconcileApi(api.analytics),
    createProofsApi(),
    // Before `/submissions/{id}`, which matches its paths too.
    createErasureApi(api.erasure),
    createFormsApi(api.forms),
    createSubmissionApi(api.submissions),
    createFilesApi(api.files),
    createLossesApi(api.losses),
    createFormTestApi(api.formTests),
    createAllowedSendersApi(api.forms),
    createOutcomesApi(api.outcomes),
    createOutcomeImportApi(api.outcomes),
    createViewsApi(api.views),
    createFormCheckApi(api.formCheck),
    createNotifyApi(api.notify),
    createDoctorApi(api.doctor),
    createImportsApi(api.imports),
  ])

interface FallbackParts {
  redirects: ReturnType<typeof createRedirects>
  pages: ReturnType<typeof createPages>
  rest: ReturnType<typeof createRest>
}

/** What answers a path that no other handler knows: the API, a link, a page of the server, or nothing. */
function createFallbacks(needs: RouteNeeds, { redirects, pages, rest }: FallbackParts) {
  const onApi = onSocket(rest)
  const onPage: Answer = (request, server) =>
    pages.fetch(request, { peer: server.requestIP(request)?.address })
  /** The pages of the server exist on the default domain only. */
  const onNothing: DomainAnswer = (request, server, domain) =>
    domain.workspaceId === null
      ? onPage(request, server)
      : nothingHere(request, { db: needs.redirects.db, domain })
  const onRoot: DomainAnswer = (request, server, domain) =>
    domain.workspaceId === null ? onPage(request, server) : redirects.answerRoot(request, domain)
  const onLink: DomainAnswer = (request, server, domain) => {
    const answer = redirects.answer(request, server, domain)
    if (answer) describeRequest({ route: '/{slug}' })
    return answer ?? onNothing(request, server, domain)
  }
  /** Bun matches a path as it was sent. This handler resolves its dots. Every path that is not mounted may be a link's. */
  const onResolvedPath: DomainAnswer = (request, server, domain) => {
    const path = pathOf(request.url)
    const isApi = domain.workspaceId === null && (path === '/v1' || path.startsWith('/v1/'))
    return isApi ? onApi(request, server) : onLink(request, server, domain)
  }
  return { onPage, onNothing, onRoot, onLink, onResolvedPath }
}

type Handlers = ReturnType<typeof createHandlers>

function createHandlers(needs: RouteNeeds) {
  const redirects = createRedirects(needs.redirects)
  const pageViews = createPageViewIntake(needs.intake)
  const forms = createFormEndpoint(needs.forms)
  const formFacts = createFormInfoEndpoint(needs.formFacts)
  const snippet = createSnippet(needs.snippet)
  const dashboard = createDashboard(needs.dashboard)
  const signIn = createAuthEndpoints(needs.signIn)
  const mail = createMailRoutes(needs.mailRoutes)
  const doctor = createDoctorRoutes(needs.doctorRoutes)
  const domainRoutes = createDomainRoutes(needs.hosts)
  const pages = createPages(needs.operations, needs.origin)
  const rest = createRest(needs)
  const { onPage, onNothing, onRoot, onLink, onResolvedPath } = createFallbacks(needs, {
    redirects,
    pages,
    rest,
  })
  return {
    redirects,
    pageViews,
    forms,
    routes: {
      pages: pages.routes,
      signIn: signIn.routes,
      mail: mail.routes,
      doctor: doctor.routes,
      rest: rest.routes,
    },
    slug: onLink,
    form: ((request, server, domain) =>
      forms.answer(request, server, pathOf(request.url).slice('/f'.length), domain)) as DomainAnswer,
    fileLink: createFileLinkEndpoint(needs.fileLinks),
    logo: createLogoEndpoint(needs.redirects),
    sharedView: createSharedViews(needs.sharedViews),
    snippet: snippet.latest,
    pinnedSnippet: snippet.versioned,
    pageView: pageViews.answer,
    formFacts: ((request, _server, domain) => formFacts(request, domain)) as DomainAnswer,
    dashboard: dashboard.answer,
    prepareFiles: () => Promise.all([dashboard.prepare(), snippet.prepare()]),
    page: onPage,
    root: onRoot,
    wellKnown: ((request, server, domain) =>
      domainRoutes.answerWellKnown(request, domain) ?? onNothing(request, server, domain)) as DomainAnswer,
    tlsAsk: ((request, server) =>
      domainRoutes.answerTlsAsk(request, server) ?? onPage(request, server)) as Answer,
    signIn: signIn.answer,
    mail: mail.answer,
    doctor: doctor.answer,
    api: onResolvedPath,
    mcp: onSocket(mcpApi(needs.api.gates, rest)) as DomainAnswer,
    other: onResolvedPath,
  }
}

/** The route of requests to paths that have none, in metrics. */
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
  // Reserved names: paths of the map, and files that browsers and crawlers request by themselves. No link may take one.
  const reserved = [...needs.site.reserved].map(
    (name): Mount => [`/${name}`, secure(OTHER, DEFAULT, handlers.page)],
  )
  const other = secure(OTHER, EVERY, handlers.other)
  // A path is judged as the one that it is once its dots are resolved.
  const judge = (path: string, answer: Answer): Answer => {
    const isMatch = createPathMatcher(path)
    return (request, server) => (isMatch(pathOf(request.url)) ? answer : other)(request, server)
  }
  const mounted = map.map(
    ([, , path, answer, , hosts]): Mount => [path, judge(path, secure(toRouteTemplate(path), hosts, answer))],
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
    /** The routes behind the paths of the map that have several. */
    routes: handlers.routes,
  }
}
