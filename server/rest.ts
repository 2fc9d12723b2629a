// What is common to all routes under /v1: the request's name and log line, finding the route, failures, and the
// description of the API at /v1/openapi.json. app.ts has these gates in their order.

import type { OpenAPIHono } from '@hono/zod-openapi'
import type { ErrorHandler, Handler, MiddlewareHandler } from 'hono'
import type { ApiEnv } from './features/accounts/access/api-env.ts'
import type { RateLimiter } from './features/accounts/access/rate-limiter.ts'
import { toErrorResponse } from './http/error-response.ts'
import { requestId } from './http/request-id.ts'
import { noRoute, routeFor, routeTable } from './http/route-table.ts'
import type { ServerHandle } from './http/server-handle.ts'
import { refuseBrokenQuery } from './http/validation.ts'
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
  secret: string
  version: string
}

/** Names the request and writes its line in the log: never its query, body or headers. */
export const traceRequest: MiddlewareHandler<ApiEnv> = async (c, next) => {
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

/** Finds the route of a request, so that each gate after it can read what the route says of itself. */
export function findRoute(api: OpenAPIHono<ApiEnv>): MiddlewareHandler<ApiEnv> {
  const routesAt = routeTable(() => api.routes)
  return (c, next) => {
    const routes = routesAt(c.req.path)
    const route = routeFor(routes, c.req.method)
    if (!route) c.set('noRoute', noRoute(routes))
    // With a method that the path does not have, a person is still asked for what the path needs of them.
    c.set('facts', (route ?? routes[0])?.facts)
    return next()
  }
}

/** @throws Failure `not_found`, `method_not_allowed` */
export const requireRoute: MiddlewareHandler<ApiEnv> = (c, next) => {
  const failure = c.get('noRoute')
  if (failure) throw failure
  return next()
}

/** @throws Failure `invalid` */
export const requireReadableQuery: MiddlewareHandler<ApiEnv> = (c, next) => {
  refuseBrokenQuery(c.req.url)
  return next()
}

export const answerApiFailure: ErrorHandler<ApiEnv> = (error, c) => {
  const answer = toErrorResponse(toFailure(error), c.get('requestId'))
  // What the gates have set already (limits, request id) belongs on failures too.
  c.res.headers.forEach((value, name) => {
    if (/^x-/i.test(name)) answer.headers.set(name, value)
  })
  return answer
}

/** As a handler for a socket: a route may change for how long the connection may be silent. */
export const onSocket = (api: OpenAPIHono<ApiEnv>) => (request: Request, server: ServerHandle) =>
  api.fetch(request, { setIdleSeconds: (seconds: number) => server.timeout(request, seconds) })

export const describeApi =
  (api: OpenAPIHono<ApiEnv>, needs: RestNeeds): Handler<ApiEnv> =>
  (c) =>
    c.json(describe(api, needs))

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
