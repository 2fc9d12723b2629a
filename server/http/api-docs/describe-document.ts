// The OpenAPI document without its operations: the groups, the authentication methods, and the source of the ids in
// paths.

interface Operation {
  tags?: string[]
  parameters?: unknown[]
}
interface DocumentParameter {
  name: string
  in: string
  description?: string
}

/** The groups of the reference, in the order in which people need them. */
export const API_TAGS = [
  { name: 'Links', description: 'Short links and where they lead' },
  { name: 'Destinations', description: 'The pages that links lead to, checked daily, and their repair' },
  { name: 'Tags', description: 'Names that group links; pinned ones stand in the sidebar' },
  { name: 'UTM templates', description: 'Named sets of UTM values' },
  { name: 'Domains', description: 'Domains of one’s own for short links' },
  { name: 'Import and export', description: 'Links and clicks from other tools, and everything out again' },
  { name: 'Analytics', description: 'Questions about clicks and leads' },
  { name: 'Views', description: 'Saved views of analytics, and their shared pages' },
  { name: 'Forms', description: 'Endpoints for the forms of your pages, and their settings' },
  { name: 'Submissions', description: 'What visitors sent, and which link brought them' },
  { name: 'Channels', description: 'Where notifications go' },
  { name: 'Deliveries', description: 'Notifications, their attempts and their results' },
  { name: 'Workspaces', description: 'Your workspaces and their contents' },
  { name: 'Members', description: 'The people of a workspace, and its invitations' },
  { name: 'API keys', description: 'Keys that give programs access to a workspace' },
  { name: 'Audit log', description: 'Who did what in the workspace' },
  { name: 'Server', description: 'How the server is, for its operator' },
]

export const describeSecurity = (origin: string) => ({
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of the workspace (`tp_…`). Settings > API Keys in the dashboard makes one.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: origin.startsWith('https:') ? '__Host-towpath_session' : 'towpath_session',
    description: 'The cookie of a person who has signed in to the dashboard',
  },
  workspace: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Workspace',
    description: 'With the cookie: the id of the workspace that the request is about',
  },
})

/** Order within a group: the list, then one item, then the rest: `/links`, `/links/{id}`, `/links/bulk`. */
export function sortPaths<T>(paths: Record<string, T>): Record<string, T> {
  const toKey = (path: string) => path.replaceAll('{', '!')
  return Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => (toKey(a) < toKey(b) ? -1 : 1)))
}

/** The operation that lists the items of a path, by group. */
const LISTED_AT: Record<string, string> = {
  Links: '/v1/links',
  'UTM templates': '/v1/utm-templates',
  Views: '/v1/views',
  Tags: '/v1/tags',
  Domains: '/v1/domains',
  Forms: '/v1/forms',
  Submissions: '/v1/submissions',
  Channels: '/v1/channels',
  Deliveries: '/v1/deliveries',
  Members: '/v1/members',
  'API keys': '/v1/keys',
  'Import and export': '/v1/imports',
}

/** Describes each path parameter: the item must exist, and where to find its id or key. */
export function describePathParameters(paths: Record<string, unknown>): void {
  for (const [path, methods] of Object.entries(paths)) {
    for (const { tags, parameters } of Object.values(methods as Record<string, Operation>)) {
      for (const parameter of (parameters ?? []) as DocumentParameter[]) {
        if (parameter.in !== 'path') continue
        const list = findList(path, parameter.name, tags?.[0])
        if (list) parameter.description = `Of one that exists: \`GET ${list}\` lists them`
      }
    }
  }
}

function findList(path: string, name: string, tag = ''): string | undefined {
  if (name === 'formKey') return LISTED_AT.Forms
  return ['/v1/invitations', '/v1/outcomes'].find((list) => path.startsWith(list)) ?? LISTED_AT[tag]
}
