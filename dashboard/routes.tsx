// Every address of the dashboard, and the file that draws it. A page's code is loaded when the page is first opened,
// or when the pointer is over a link to it.

import type { QueryClient } from '@tanstack/react-query'
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { signInOptionsQuery, userQuery, workspacesQuery } from './api/session.ts'
import { NotFoundPage, RouteErrorPage } from './shell/error-pages.tsx'
import { readLastWorkspace } from './shell/last-workspace.ts'
import { Shell } from './shell/shell.tsx'
import { SkeletonRows } from './ui/skeleton.tsx'

interface Context {
  client: QueryClient
}

/** Draws nothing, so that the frame of the HTML stays until there is a page (shell/loading-frame.tsx). */
const KeepFrame = () => null

const rootRoute = createRootRouteWithContext<Context>()({
  component: Outlet,
  pendingComponent: KeepFrame,
  notFoundComponent: NotFoundPage,
  errorComponent: RouteErrorPage,
})

/** Keeps the named parameters that are texts or numbers, as texts, and drops every other parameter. */
const pickTextParameters =
  <const N extends string>(...names: N[]) =>
  (search: Record<string, unknown>): Partial<Record<N, string>> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : []
      }),
    ) as Partial<Record<N, string>>

/**
 * Page components are named in a string, which tsc does not check: tests/browser/every-page.test.ts opens each page.
 * @param parent the route whose component surrounds the pages
 */
const createPageFactory =
  <R extends AnyRoute>(parent: () => R, pendingComponent?: () => null) =>
  <const P extends string, const N extends string>(
    path: P,
    load: () => Promise<Record<string, unknown>>,
    name: string,
    ...search: N[]
  ) =>
    createRoute({
      getParentRoute: parent,
      path,
      validateSearch: pickTextParameters(...search),
      pendingComponent,
      component: lazyRouteComponent(load as () => Promise<Record<string, () => React.ReactNode>>, name),
    })

const publicPage = createPageFactory(() => rootRoute, KeepFrame)

const signIn = publicPage(
  '/sign-in',
  () => import('./pages/sign-in/sign-in-page.tsx'),
  'SignInPage',
  'next',
  'error',
  'step',
)
const signedIn = publicPage('/signed-in', () => import('./pages/sign-in/signed-in-page.tsx'), 'SignedInPage')
const signUp = publicPage('/sign-up', () => import('./pages/sign-in/sign-up-page.tsx'), 'SignUpPage', 'next')
const setup = publicPage('/setup', () => import('./pages/sign-in/setup-page.tsx'), 'SetupPage', 'token')
const confirm = publicPage(
  '/confirm',
  () => import('./pages/sign-in/confirm-page.tsx'),
  'ConfirmPage',
  'token',
)
const mail = publicPage('/mail', () => import('./pages/sign-in/mail-page.tsx'), 'MailPage', 'token')
const join = publicPage('/join', () => import('./pages/sign-in/join-page.tsx'), 'JoinPage', 'token')
const forgot = publicPage('/forgot', () => import('./pages/sign-in/forgot-page.tsx'), 'ForgotPage')
const reset = publicPage(
  '/reset',
  () => import('./pages/sign-in/reset-page.tsx'),
  'ResetPage',
  'token',
  'error',
)

const confirmEmail = publicPage(
  '/confirm-email',
  () => import('./pages/sign-in/confirm-email-page.tsx'),
  'ConfirmEmailPage',
  'token',
)
const undoEmail = publicPage(
  '/undo-email',
  () => import('./pages/sign-in/undo-email-page.tsx'),
  'UndoEmailPage',
  'token',
)

/**
 * Redirects to the links of the workspace that was open last.
 * @param next the address to open after the sign-in
 */
async function openLastWorkspace(client: QueryClient, search: { new?: string; url?: string }, next?: string) {
  if (!(await client.ensureQueryData(userQuery))) {
    void client.prefetchQuery(signInOptionsQuery)
    throw redirect({ to: '/sign-in', search: { next } })
  }
  const workspaces = await client.ensureQueryData(workspacesQuery)
  const workspace = workspaces.find(({ id }) => id === readLastWorkspace()) ?? workspaces[0]
  if (!workspace) throw redirect({ to: '/new-workspace' })
  throw redirect({ to: '/$workspaceId/links', params: { workspaceId: String(workspace.id) }, search })
}

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  pendingComponent: KeepFrame,
  beforeLoad: ({ context: { client } }) => openLastWorkspace(client, {}),
})

/** `/app/new?url=` opens the form of a new link. The bookmarklet leads here. */
const newLinkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/new',
  validateSearch: (search: Record<string, unknown>) => pickTextParameters('url')(search),
  pendingComponent: KeepFrame,
  beforeLoad: ({ context: { client }, search: { url }, location }) =>
    openLastWorkspace(client, { new: '1', url }, `/app${location.href}`),
})

const newWorkspace = publicPage(
  '/new-workspace',
  () => import('./pages/settings/new-workspace-page.tsx'),
  'NewWorkspacePage',
)

const workspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$workspaceId',
  async beforeLoad({ context: { client }, location }) {
    // The two queries are independent of each other.
    const [user] = await Promise.all([
      client.ensureQueryData(userQuery),
      client.prefetchQuery(workspacesQuery),
    ])
    if (!user) throw redirect({ to: '/sign-in', search: { next: `/app${location.href}` } })
    await client.ensureQueryData(workspacesQuery)
  },
  component: Shell,
  pendingComponent: KeepFrame,
  notFoundComponent: NotFoundPage,
})

const workspacePage = createPageFactory(() => workspaceRoute)

/** Addresses of earlier versions, which mails, bookmarks and other pages have. */
const MOVED = [
  ['channels', 'notifications'],
  ['deliveries', 'notifications/deliveries'],
  ['live', 'analytics/live'],
  ['tags', 'settings/tags'],
  ['transfer', 'settings/transfer'],
  ['transfer/$importId', 'settings/transfer/$importId'],
] as const

/** Redirects to the page's new address, with the same parameters. */
const movedPage = (path: string, target: string) =>
  createRoute({
    getParentRoute: () => workspaceRoute,
    path,
    beforeLoad({ params, search }) {
      throw redirect({
        // The parameters of the two addresses are the same, which the types of routes made in a loop cannot say.
        to: `/$workspaceId/${target}` as string,
        params,
        search,
        replace: true,
      })
    },
  })

/** Filters of clicks and leads. A value is a list in the grammar of docs/contract.md §5 (`US,BR`, `-US`). */
export const FILTER_SEARCH_PARAMS = [
  'linkId',
  'tagId',
  'domain',
  'slug',
  'variant',
  'country',
  'region',
  'city',
  'continent',
  'device',
  'browser',
  'os',
  'referrer',
  'referrerUrl',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'trigger',
  'class',
] as const
export const RANGE_SEARCH_PARAMS = ['interval', 'start', 'end', 'timezone'] as const
/** The view of analytics. `form` and `page` filter leads only. */
export const VIEW_SEARCH_PARAMS = [
  'tabs',
  'metric',
  'model',
  'granularity',
  'compare',
  'funnel',
  'form',
  'page',
] as const

const routeTree = rootRoute.addChildren([
  homeRoute,
  newLinkRoute,
  signIn,
  signedIn,
  signUp,
  setup,
  confirm,
  mail,
  join,
  forgot,
  reset,
  confirmEmail,
  undoEmail,
  newWorkspace,
  workspaceRoute.addChildren([
    workspacePage(
      'links',
      () => import('./pages/links/links-page.tsx'),
      'LinksPage',
      'search',
      'tagId',
      'domain',
      'archived',
      'sort',
      'order',
      'new',
      'url',
      'from',
      'edit',
    ),
    workspacePage(
      'links/missing',
      () => import('./pages/links/missing/missing-page.tsx'),
      'MissingPage',
      'interval',
      'slug',
      'domain',
    ),
    workspacePage(
      'links/destinations',
      () => import('./pages/links/destinations/destinations-page.tsx'),
      'DestinationsPage',
      'state',
    ),
    workspacePage('links/trash', () => import('./pages/links/trash/trash-page.tsx'), 'TrashPage'),
    workspacePage(
      'links/$linkId',
      () => import('./pages/links/detail/link-page.tsx'),
      'LinkPage',
      ...FILTER_SEARCH_PARAMS,
      ...RANGE_SEARCH_PARAMS,
      ...VIEW_SEARCH_PARAMS,
      'edit',
    ),
    workspacePage(
      'analytics',
      () => import('./pages/analytics/analytics-page.tsx'),
      'AnalyticsPage',
      ...FILTER_SEARCH_PARAMS,
      ...RANGE_SEARCH_PARAMS,
      ...VIEW_SEARCH_PARAMS,
    ),
    workspacePage(
      'analytics/compare',
      () => import('./pages/analytics/compare/compare-page.tsx'),
      'ComparePage',
    ),
    workspacePage('analytics/proofs', () => import('./pages/analytics/proofs/proofs-page.tsx'), 'ProofsPage'),
    workspacePage('analytics/live', () => import('./pages/live/live-page.tsx'), 'LivePage'),
    workspacePage('forms', () => import('./pages/forms/forms-page.tsx'), 'FormsPage', 'new'),
    workspacePage('forms/$formKey', () => import('./pages/forms/form-page.tsx'), 'FormPage', 'tab', 'page'),
    workspacePage(
      'inbox',
      () => import('./pages/inbox/inbox-page.tsx'),
      'InboxPage',
      'formKey',
      'status',
      'search',
      'linkId',
      'country',
      'utmSource',
      'stage',
      'assignee',
      'start',
      'end',
      'open',
    ),
    workspacePage('domains', () => import('./pages/domains/domains-page.tsx'), 'DomainsPage', 'new'),
    workspacePage('domains/$domainId', () => import('./pages/domains/domain-page.tsx'), 'DomainPage'),
    workspacePage(
      'notifications',
      () => import('./pages/channels/channels-page.tsx'),
      'ChannelsPage',
      'new',
      'edit',
    ),
    workspacePage(
      'notifications/deliveries',
      () => import('./pages/deliveries/deliveries-page.tsx'),
      'DeliveriesPage',
      'status',
      'channelId',
      'formKey',
      'submissionId',
      'open',
    ),
    workspacePage('settings/tags', () => import('./pages/tags/tags-page.tsx'), 'TagsPage', 'search', 'new'),
    workspacePage(
      'settings/transfer',
      () => import('./pages/transfer/transfer-page.tsx'),
      'TransferPage',
      'tab',
    ),
    workspacePage(
      'settings/transfer/$importId',
      () => import('./pages/transfer/detail/import-page.tsx'),
      'ImportPage',
      'outcome',
    ),
    workspacePage(
      'settings',
      () => import('./pages/settings/settings-page.tsx'),
      'SettingsPage',
      'tab',
      'action',
      'actor',
      'start',
      'end',
    ),
    ...MOVED.map(([from, to]) => movedPage(from, to)),
  ]),
])

export const createAppRouter = (client: QueryClient) =>
  createRouter({
    routeTree,
    basepath: '/app',
    context: { client },
    defaultPreload: 'intent',
    // The query client decides when data is stale.
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: () => (
      <div className="mx-auto w-full max-w-6xl px-4 py-8 sm:px-8">
        <SkeletonRows />
      </div>
    ),
    defaultErrorComponent: RouteErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
    // Plain parameters such as `?tagId=3,4`, in place of the router's JSON.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const text = new URLSearchParams(
        Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      ).toString()
      return text && `?${text}`
    },
  })
