// Gates shared by all routes of /v1: the request id and log line, route lookup, failures, and the OpenAPI document at
// /v1/openapi.json. routes.ts has them in order.

import type { OpenAPIHono } from '@hono/zod-openapi'
import type { ErrorHandler, Handler, MiddlewareHandler } from 'hono'
import type { ApiEnv } from '../features/accounts/access/api-env.ts'
import type { GuardNeeds } from '../features/accounts/access/guard.ts'
import {
  API_TAGS,
  describePathParameters,
  describeSecurity,
  sortPaths,
} from '../http/api-docs/describe-document.ts'
import { toErrorResponse } from '../http/error-response.ts'
import { requestId } from '../http/request-id.ts'
import { noRoute, routeFor, routeTable, toRouteTemplate } from '../http/route-table.ts'
import type { ServerHandle } from '../http/server-handle.ts'
import { refuseBrokenQuery } from '../http/validation.ts'
import { log } from '../lib/log.ts'
import { describeRequest } from '../lib/telemetry/request-context.ts'
import { toFailure } from '../storage/database/errors.ts'
import { describeWebhooks } from './describe-webhooks.ts'

const DESCRIPTION = `Short links, click analytics and form capture that you host yourself.

Every request carries \`Authorization: Bearer <API key>\`. A key belongs to one workspace and sees nothing else. (The
dashboard uses the same paths, with the cookie of a person who has signed in and \`X-Workspace: <id>\`.)
A key may have scopes: the security of each operation names the ones that it needs, and a key without them gets 403.
The answer to a write shows what the key may read, else \`{id, updatedAt}\`.
Answers are \`{"data": …}\`, failures \`{"error": "…"}\` with \`errors\` by field at 422. Times are ISO 8601 in UTC.

[Recipes](/docs/recipes) has the most common tasks in curl, TypeScript and Python.`

export interface RestNeeds extends GuardNeeds {
  secret: string
  version: string
}

/** Gives the request an id and writes its log line, which never has its query, body or headers. */
export const logRequests: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const id = requestId(c.req.header('x-request-id'))
  const started = performance.now()
  c.set('requestId', id)
  c.header('X-Request-Id', id)
  await next()
  // The answers are about one workspace, also where a cookie asks (OWASP ASVS 5.0, 14.3.2).
  c.res.headers.set('Cache-Control', 'no-store')
  const { method, path } = c.req
  const ms = Math.round((performance.now() - started) * 10) / 10
  const actor = c.get('actor')
  describeRequest({ workspaceId: actor?.workspaceId })
  log.info('request', {
    requestId: id,
    method,
    path,
    status: c.res.status,
    ms,
    workspaceId: actor?.workspaceId,
    keyId: actor?.keyId ?? undefined,
    userId: c.get('person')?.userId,
  })
}

/** Finds the route of a request, so that each gate after it can read the facts of the route. */
export function findRoute(api: OpenAPIHono<ApiEnv>): MiddlewareHandler<ApiEnv> {
  const routesAt = routeTable(() => api.routes)
  return (c, next) => {
    const routes = routesAt(c.req.path)
    const route = routeFor(routes, c.req.method)
    describeRequest({ route: toRouteTemplate((route ?? routes[0])?.path ?? '/v1/*') })
    if (!route) c.set('noRoute', noRoute(routes))
    // For a method that the path does not have, the guard still applies the facts of the path's first route.
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
  const response = toErrorResponse(toFailure(error), c.get('requestId'))
  // A failure keeps the headers that the gates have set: the limits and the request id.
  c.res.headers.forEach((value, name) => {
    if (/^x-/i.test(name)) response.headers.set(name, value)
  })
  return response
}

/** The API as a handler of the server: a route may change for how long its connection may be silent. */
export const onSocket = (api: OpenAPIHono<ApiEnv>) => (request: Request, server: ServerHandle) =>
  api.fetch(request, {
    setIdleSeconds: (seconds: number) => server.timeout(request, seconds),
    readPeer: () => server.requestIP(request)?.address,
  })

export function describeApi(api: OpenAPIHono<ApiEnv>, needs: RestNeeds): Handler<ApiEnv> {
  // Written once: that takes 35 ms, and the route is public.
  let text: string | undefined
  return (c) => {
    text ??= JSON.stringify(describe(api, needs))
    return c.body(text, 200, { 'Content-Type': 'application/json' })
  }
}

function describe(api: OpenAPIHono<ApiEnv>, { origin, version }: RestNeeds) {
  describeWebhooks(api)
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Towpath API',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: origin }],
    tags: API_TAGS,
  })
  const paths = sortPaths(document.paths ?? {})
  describePathParameters(paths)
  return {
    ...document,
    paths,
    components: { ...document.components, securitySchemes: describeSecurity(origin) },
  }
}
