// Writes docs/routes.md from the route map of server/web/routes.ts and the facts that each route declares.
// `npm run docs:routes` writes the file, and tests/routes.test.ts compares it.

import { join } from 'node:path'
import type { Caller, RouteFacts } from '../../server/http/route-facts.ts'
import { listRoutes, type Route } from '../../server/http/route-table.ts'
import { setLogLevel } from '../../server/lib/log.ts'
import { startServer, type TestServer } from './world.ts'

const ROOT = join(import.meta.dir, '../..')
export const ROUTES_PAGE = join(ROOT, 'docs/routes.md')

const CALLERS: Record<Caller, string> = {
  anybody: 'anybody',
  person: 'a signed-in person',
  member: 'a member',
  keyOrPerson: 'an API key, or a signed-in person',
  keyOrMember: 'an API key, or a member',
}

const INTRODUCTION = `# Routes

\`npm run docs:routes\` writes this page from the route map in \`server/web/routes.ts\` and the declaration of each route. A test
fails when the page is outdated.

- **Anybody**: no credentials. Strangers can reach these routes.
- **A member**: the cookie of a signed-in person, and \`X-Workspace\` with the id of one of their workspaces. Some routes require an
  owner; the page at \`/docs\` lists them.
- **Scope**: the scopes that an API key needs, all of them. A key with the scope \`*\` has every scope.
- **Idempotent**: the route accepts an \`Idempotency-Key\`, and answers a repeated request with its first answer.
- **Secret**: the answer shows a secret once. It is stored encrypted if the route is idempotent, else not at all.
- **Slow**: the handler waits for an external server.
- **Fresh**: the person has signed in, or confirmed the session, within the last 15 minutes. Keys are not affected.
`

interface Row {
  method: string
  path: string
  by: string
  scope: string
  idempotent: boolean
  facts: string
  file: string
}

const factsText = ({ secretInAnswer, slow, fresh }: RouteFacts) =>
  [secretInAnswer && 'secret', slow && 'slow', fresh && 'fresh'].filter(Boolean).join(', ')

/** The scopes that a key needs; empty where no key may call. */
const scopeText = ({ by, scopes }: RouteFacts) =>
  by.startsWith('key') ? scopes.map((scope) => `\`${scope}\``).join(' and ') || 'any' : ''

/** Paths of the route map without facts of their own. The other entries lead to routes that have some. */
function frontTable({ app }: TestServer, callers: 'anybody' | 'an API key'): string {
  const lines = app.map
    .filter(([by]) => by === callers)
    // The map writes the file relative to server/.
    .map(
      ([, method, path, , file, hosts]) =>
        `| ${method} | \`${path}\` | ${hosts} | \`${join('server', file)}\` |`,
    )
  return `| method | path | answers on | file |\n|---|---|---|---|\n${lines.join('\n')}\n`
}

/** @param fileFor the file that declares the route */
const routeRows = (routes: Route[], fileFor: (route: Route) => string): Row[] =>
  routes.map((route) => {
    const { method, path, facts } = route
    return {
      method,
      path: path.replace(/:(\w+)/g, '{$1}'),
      by: CALLERS[facts?.by ?? 'anybody'],
      scope: facts ? scopeText(facts) : '',
      idempotent: facts?.idempotent ?? false,
      facts: facts ? factsText(facts) : '',
      file: fileFor(route),
    }
  })

/** @returns a function that finds the one source file with a declaration @throws when no file or several files match */
async function createDeclarationFinder() {
  const files = [...new Bun.Glob('server/**/*.ts').scanSync(ROOT)].filter(
    (path) => !path.endsWith('.test.ts'),
  )
  const texts = await Promise.all(files.map((path) => Bun.file(join(ROOT, path)).text()))
  return (declaration: string | RegExp) => {
    const matches = files.filter((_, i) => texts[i]?.match(declaration))
    if (matches.length !== 1) throw new Error(`${declaration} is in ${matches.length} files: ${matches}`)
    return matches[0] as string
  }
}

async function restRows(
  server: TestServer,
  find: Awaited<ReturnType<typeof createDeclarationFinder>>,
): Promise<Row[]> {
  const { json } = await server.call('/v1/openapi.json')
  return routeRows(listRoutes(server.app.routes.rest), ({ method, path }) => {
    const operation = json.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
    return operation ? find(`operationId: '${operation.operationId}'`) : 'server/web/rest.ts'
  })
}

const ownRows = (
  routes: Route[],
  prefix: string,
  find: Awaited<ReturnType<typeof createDeclarationFinder>>,
): Row[] =>
  routeRows(routes, ({ method, path }) => {
    const name = path.slice(prefix.length)
    const declaredPath = name.replace(/^\/callback\/.*/, '/callback/')
    return find(new RegExp(`app\\.${method.toLowerCase()}\\(['\`]${RegExp.escape(declaredPath)}['\`$]`))
  })

const byPath = (a: Row, b: Row) =>
  a.path.localeCompare(b.path, 'en') || a.method.localeCompare(b.method, 'en')

function table(rows: Row[]): string {
  const lines = rows.map(
    ({ method, path, by, scope, idempotent, facts, file }) =>
      `| ${method} | \`${path}\` | ${by} | ${scope} | ${idempotent ? 'yes' : ''} | ${facts} | \`${file}\` |`,
  )
  const head =
    '| method | path | who may call it | scope | idempotent | facts | file |\n|---|---|---|---|---|---|---|'
  return `${head}\n${lines.join('\n')}\n`
}

export async function routesPage(): Promise<string> {
  const server = await startServer('sqlite')
  try {
    const find = await createDeclarationFinder()
    return `${INTRODUCTION}
## Pages, redirects, forms and the snippet

These routes are public. The most specific path answers, independent of the order. \`/t.js\` and \`/e\` are \`SNIPPET_PATH\` and
\`INTAKE_PATH\`. On a custom domain, only the paths of "every domain" exist. Every other path there, also of the tables below, is
looked up as a link. An unknown host gets 404 for every path. Plain GETs of links and plain POSTs of \`/e\` are answered at the socket
(\`server/http/fast-path/listener.ts\`).

${frontTable(server, 'anybody')}
## Assistants

For API keys. The scopes of a key decide which tools it gets ([assistants](mcp.md)).

${frontTable(server, 'an API key')}
## Signing in

${table(ownRows(listRoutes(server.app.routes.signIn), '/api/auth', find).sort(byPath))}
## Recipients of mails

${table(routeRows(listRoutes(server.app.routes.mail), () => 'server/features/notify/public.ts').sort(byPath))}
## The doctor

${table(routeRows(listRoutes(server.app.routes.doctor), () => 'server/features/doctor/public.ts').sort(byPath))}
## The REST API

${table((await restRows(server, find)).sort(byPath))}`
  } finally {
    await server.close()
  }
}

if (import.meta.main) {
  setLogLevel('silent')
  await Bun.write(ROUTES_PAGE, await routesPage())
}
