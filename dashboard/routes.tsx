// Every address of the dashboard on one screen, and the file that draws it. Pages are loaded when they are first
// opened, and already when a link to them is pointed at.

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
import { userQuery, workspacesQuery } from './api/session.ts'
import { NotFound, RouteFailed } from './shell/failed.tsx'
import { lastWorkspace } from './shell/last-workspace.ts'
import { Shell } from './shell/shell.tsx'
import { SkeletonRows } from './ui/states.tsx'

interface Context {
  client: QueryClient
}

const root = createRootRouteWithContext<Context>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: RouteFailed,
})

/** Only strings, and only those that are named: what else stands in an address is not ours. */
const texts =
  <const N extends string>(...names: N[]) =>
  (search: Record<string, unknown>): Partial<Record<N, string>> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : []
      }),
    ) as Partial<Record<N, string>>

/** @param parent what stands around the pages */
const pagesOf =
  <R extends AnyRoute>(parent: () => R) =>
  <const P extends string, const N extends string>(
    path: P,
    load: () => Promise<Record<string, unknown>>,
    name: string,
    ...search: N[]
  ) =>
    createRoute({
      getParentRoute: parent,
      path,
      validateSearch: texts(...search),
      component: lazyRouteComponent(load as () => Promise<Record<string, () => React.ReactNode>>, name),
    })

const stranger = pagesOf(() => root)

const signIn = stranger(
  '/sign-in',
  () => import('./pages/sign-in/sign-in.tsx'),
  'SignInPage',
  'next',
  'error',
)
const signUp = stranger('/sign-up', () => import('./pages/sign-in/sign-up.tsx'), 'SignUpPage', 'next')
const join = stranger('/join', () => import('./pages/sign-in/join.tsx'), 'JoinPage', 'token')
const forgot = stranger('/forgot', () => import('./pages/sign-in/forgot.tsx'), 'ForgotPage')
const reset = stranger('/reset', () => import('./pages/sign-in/reset.tsx'), 'ResetPage', 'token', 'error')

/** `/app`: to the workspace that was open last. */
const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  async beforeLoad({ context: { client } }) {
    if (!(await client.ensureQueryData(userQuery))) throw redirect({ to: '/sign-in', search: {} })
    const workspaces = await client.ensureQueryData(workspacesQuery)
    const workspace = workspaces.find(({ id }) => id === lastWorkspace()) ?? workspaces[0]
    if (!workspace) throw redirect({ to: '/new-workspace' })
    throw redirect({ to: '/$workspaceId/links', params: { workspaceId: String(workspace.id) }, search: {} })
  },
})

const newWorkspace = stranger(
  '/new-workspace',
  () => import('./pages/settings/new-workspace.tsx'),
  'NewWorkspacePage',
)

const workspace = createRoute({
  getParentRoute: () => root,
  path: '/$workspaceId',
  async beforeLoad({ context: { client }, location }) {
    // Both at once: they do not need one another.
    const [user] = await Promise.all([
      client.ensureQueryData(userQuery),
      client.prefetchQuery(workspacesQuery),
    ])
    if (!user) throw redirect({ to: '/sign-in', search: { next: `/app${location.href}` } })
    await client.ensureQueryData(workspacesQuery)
  },
  component: Shell,
  notFoundComponent: NotFound,
})

const page = pagesOf(() => workspace)

/** What a question about clicks or leads can be narrowed by; a list in the contract's grammar (`US,BR`, `-US`). */
export const FILTERS = [
  'linkId',
  'tagId',
  'domain',
  'slug',
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
export const RANGE = ['interval', 'start', 'end', 'timezone'] as const
/** How analytics show it; forms and pages narrow leads alone. */
export const ANALYTICS = ['tabs', 'metric', 'model', 'granularity', 'funnel', 'form', 'page'] as const

const routeTree = root.addChildren([
  home,
  signIn,
  signUp,
  join,
  forgot,
  reset,
  newWorkspace,
  workspace.addChildren([
    page(
      'links',
      () => import('./pages/links/links.tsx'),
      'LinksPage',
      'search',
      'tagId',
      'domain',
      'archived',
      'sort',
      'order',
      'new',
      'from',
      'edit',
    ),
    page(
      'links/$linkId',
      () => import('./pages/links/link.tsx'),
      'LinkPage',
      ...FILTERS,
      ...RANGE,
      ...ANALYTICS,
      'edit',
    ),
    page(
      'analytics',
      () => import('./pages/analytics/analytics.tsx'),
      'AnalyticsPage',
      ...FILTERS,
      ...RANGE,
      ...ANALYTICS,
    ),
    page('forms', () => import('./pages/forms/forms.tsx'), 'FormsPage', 'new'),
    page('forms/$formKey', () => import('./pages/forms/form.tsx'), 'FormPage', 'tab'),
    page(
      'inbox',
      () => import('./pages/inbox/inbox.tsx'),
      'InboxPage',
      'formKey',
      'status',
      'search',
      'linkId',
      'country',
      'utmSource',
      'start',
      'end',
      'open',
    ),
    page('tags', () => import('./pages/tags/tags.tsx'), 'TagsPage', 'search', 'new'),
    page('channels', () => import('./pages/channels/channels.tsx'), 'ChannelsPage', 'new', 'edit'),
    page(
      'deliveries',
      () => import('./pages/deliveries/deliveries.tsx'),
      'DeliveriesPage',
      'status',
      'channelId',
      'submissionId',
      'open',
    ),
    page('settings', () => import('./pages/settings/settings.tsx'), 'SettingsPage', 'tab'),
  ]),
])

export const createAppRouter = (client: QueryClient) =>
  createRouter({
    routeTree,
    basepath: '/app',
    context: { client },
    defaultPreload: 'intent',
    // The query client has its own idea of what is fresh.
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: () => (
      <div className="mx-auto w-full max-w-6xl px-4 py-8 sm:px-8">
        <SkeletonRows />
      </div>
    ),
    defaultErrorComponent: RouteFailed,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
    // `?tagId=3,4`, as the API has it, not JSON.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const written = new URLSearchParams(
        Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      ).toString()
      return written && `?${written}`
    },
  })
