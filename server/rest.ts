// The REST API under /v1: its gates in order, its routes, and the description it gives of itself.

import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { type ApiEnv, createApi, createGuard } from './features/accounts/access/guard.ts'
import { createIdempotency } from './features/accounts/access/idempotency.ts'
import type { RateLimiter } from './features/accounts/access/rate-limiter.ts'
import { toErrorResponse } from './http/error-response.ts'
import { jsonBody } from './http/json-body.ts'
import { createMethodTable } from './http/method-table.ts'
import { requestId } from './http/request-id.ts'
import { refuseBrokenQuery } from './http/validation.ts'
import { Failure, notFound } from './lib/failure.ts'
import { log } from './lib/log.ts'
import { toFailure } from './storage/database/errors.ts'
import type { Database } from './storage/database/open-database.ts'

const DESCRIPTION = `Short links, click analytics and form capture that you host yourself.

Every request carries \`Authorization: Bearer <API key>\`. A key belongs to one workspace and sees nothing else. (The
dashboard asks the same paths with the cookie of a person who has signed in and \`X-Workspace: <id>\`.)
Answers are \`{"data": …}\`, failures \`{"error": "…"}\` with \`errors\` by field at 422. Times are ISO 8601 in UTC.`

export interface RestNeeds {
  db: Database
  limiter: RateLimiter
  now: () => number
  origin: string
  version: string
  features: OpenAPIHono<ApiEnv>[]
}

/** A POST that says all by its address. */
const BARE = [/\/channels\/[^/]+\/(?:test|rotate-secret)$/, /\/deliveries\/[^/]+\/retry$/]
/** These wait for somebody else's server. */
const SLOW = [/\/forms\/[^/]+\/check$/, /\/channels\/[^/]+\/test$/]
/** What they answer opens a workspace, or they are about none. */
const TOLD_ONCE = [/\/workspaces$/, /\/invitations(?:\/accept)?$/, /\/keys$/]

/** A person asks these without naming a workspace. */
const PERSONAL = [/\/v1\/workspaces$/, /\/v1\/invitations\/accept$/]

const isOneOf = (paths: RegExp[]) => (path: string) => paths.some((each) => each.test(path))

export function createRestApi(needs: RestNeeds) {
  const api = createApi().basePath('/v1')
  const methodsOf = createMethodTable(() => api.routes)

  api.use(traced)
  api.onError((error, c) => {
    const answer = toErrorResponse(toFailure(error), c.get('requestId'))
    // What the gates have set already (limits, request id) belongs on failures too.
    c.res.headers.forEach((value, name) => {
      if (/^x-/i.test(name)) answer.headers.set(name, value)
    })
    return answer
  })
  api.get('/openapi.json', (c) => c.json(describe(api, needs)))
  api.use(createGuard({ ...needs, personal: isOneOf(PERSONAL) }))
  api.use(async (c, next) => {
    const methods = methodsOf(c.req.path)
    if (methods.length === 0) throw notFound('')
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
    if (!methods.includes(method))
      throw new Failure('method_not_allowed', 'Method not allowed', { allow: methods.join(', ') })
    await next()
  })
  api.use((c, next) => {
    refuseBrokenQuery(c.req.url)
    return next()
  })
  api.use(jsonBody({ lists: (path) => path.endsWith('/bulk'), bare: isOneOf(BARE) }))
  api.use(createIdempotency({ ...needs, slow: isOneOf(SLOW), refusesKey: isOneOf(TOLD_ONCE) }))
  for (const feature of needs.features) api.route('/', feature)
  return api
}

/** Names the request and writes its line in the log: never its query, body or headers. */
const traced: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const id = requestId(c.req.header('x-request-id'))
  const started = performance.now()
  c.set('requestId', id)
  c.header('X-Request-Id', id)
  await next()
  const { method, path } = c.req
  const ms = Math.round((performance.now() - started) * 10) / 10
  log.info('request', {
    requestId: id,
    method,
    path,
    status: c.res.status,
    ms,
    workspaceId: c.get('actor')?.workspaceId,
  })
}

function describe(api: OpenAPIHono<ApiEnv>, { origin, version }: RestNeeds) {
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Towpath API',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: origin }],
    tags: [
      { name: 'Workspaces', description: 'Yours, and what they hold' },
      { name: 'Members', description: 'The people of a workspace, and who is invited' },
      { name: 'API keys', description: 'What opens a workspace to programs' },
      { name: 'Links', description: 'Short links and where they lead' },
      { name: 'Tags', description: 'Names that group links' },
      { name: 'Analytics', description: 'Questions about clicks' },
      { name: 'Forms', description: 'What takes the forms of your pages, and how' },
      { name: 'Submissions', description: 'What visitors sent, and what brought them' },
      { name: 'Channels', description: 'Where notifications go' },
      { name: 'Deliveries', description: 'Notifications on their way, and how they fared' },
    ],
  })
  const securitySchemes = {
    apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the workspace' },
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
  }
  return { ...document, components: { ...document.components, securitySchemes } }
}
