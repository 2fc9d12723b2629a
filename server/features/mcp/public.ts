// Answers POST /mcp: the Model Context Protocol over streamable HTTP, without sessions. Each request has an API key, and
// its tools are those that the key's scopes allow.

import type { Handler, MiddlewareHandler } from 'hono'
import { Failure } from '../../lib/failure.ts'
import { log } from '../../lib/log.ts'
import { describeRequest } from '../../lib/telemetry/request-context.ts'
import type { ApiEnv } from '../accounts/access/api-env.ts'
import { refuseCrossOrigin } from '../accounts/access/cross-origin.ts'
import { type ApiDocument, buildTools } from './build-tools.ts'
import {
  createMcpServer,
  explainMissingScopes,
  loadMcpSdk,
  type McpServerNeeds,
} from './create-mcp-server.ts'

interface McpEndpointNeeds {
  origin: string
  version: string
  /** The REST API of this server, with all its gates. */
  callApi(request: Request, bindings: ApiEnv['Bindings']): Response | Promise<Response>
}

/** There are no sessions, so nothing to listen to (GET) or to end (DELETE). @throws Failure `method_not_allowed` */
export const requirePost: MiddlewareHandler<ApiEnv> = (c, next) => {
  if (c.req.method === 'POST') return next()
  throw new Failure('method_not_allowed', 'Method not allowed', { allow: 'POST' })
}

/**
 * A page of another site must not reach the tools, also where its host name leads to this server (DNS rebinding). A session
 * cookie is no credential here.
 * @throws Failure `forbidden`, `missing_key`
 */
export const requireKey =
  ({ origin }: Pick<McpEndpointNeeds, 'origin'>): MiddlewareHandler<ApiEnv> =>
  (c, next) => {
    refuseCrossOrigin(c.req.raw, origin)
    if (c.req.header('authorization') === undefined) throw new Failure('missing_key', 'Missing API key')
    return next()
  }

export function createMcpEndpoint(needs: McpEndpointNeeds): Handler<ApiEnv> {
  const open = async () => {
    const [sdk, response] = await Promise.all([
      loadMcpSdk(),
      needs.callApi(new Request(`${needs.origin}/v1/openapi.json`), {}),
    ])
    const tools = buildTools((await response.json()) as ApiDocument)
    const servers = new WeakMap<Request, McpServerNeeds>()
    const handler = sdk.createMcpHandler(
      ({ requestInfo }) => createMcpServer(servers.get(requestInfo as Request) as McpServerNeeds),
      { onerror: (error) => log.info('mcp_request_refused', { reason: error.message.slice(0, 200) }) },
    )
    return { sdk, tools, servers, handler }
  }
  let opening: ReturnType<typeof open> | undefined
  return async (c) => {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    const { sdk, tools, servers, handler } = await opening
    const request = c.req.raw
    const { scopes = ['*'] } = c.get('actor')
    servers.set(request, {
      sdk,
      tools,
      version: needs.version,
      findRefusal: (tool) => explainMissingScopes(tool, scopes),
      callApi: createCaller(needs, c.req.raw, c.env, c.get('requestId')),
    })
    const response = await handler.fetch(request, { parsedBody: await c.req.json() })
    describeRequest({ route: '/mcp' })
    return c.newResponse(response.body, response)
  }
}

/** Calls the REST API with the same key. The first call is the one that the guard of /mcp has counted. */
function createCaller(
  { origin, callApi }: McpEndpointNeeds,
  { headers }: Request,
  bindings: ApiEnv['Bindings'],
  requestId: string,
): McpServerNeeds['callApi'] {
  const authorization = headers.get('authorization') ?? ''
  let isCounted = true
  return async ({ method, path, body }) => {
    const call = new Request(origin + path, {
      method,
      headers: {
        Authorization: authorization,
        'X-Request-Id': requestId,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body,
    })
    const answering = callApi(call, { ...bindings, isCounted })
    isCounted = false
    return answering
  }
}
