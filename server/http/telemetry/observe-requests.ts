// Observes each request from its first handler to its answer: id, metrics, span, and a log line if it was slow. Plain
// redirects on the fast path are only counted.

import { isInNetworks, type Network } from '../../lib/ip-network.ts'
import { log } from '../../lib/log.ts'
import { postRequest, removeRequest } from '../../lib/telemetry/request-board.ts'
import {
  createRequestContext,
  type RequestContext,
  runForRequest,
} from '../../lib/telemetry/request-context.ts'
import { getTracer } from '../../lib/telemetry/tracing.ts'
import { toErrorResponse } from '../error-response.ts'
import { type FastResponse, toHeaderLines } from '../fast-path/response-text.ts'
import { requestId } from '../request-id.ts'
import { pathOf } from '../request-path.ts'
import type { ServerHandle } from '../server-handle.ts'
import { type RequestMetrics, toKnownMethod } from './request-metrics.ts'

export interface ObserverNeeds {
  requests: RequestMetrics
  /** Requests that take at least this many milliseconds get a log line; 0 for none. */
  slowRequestMs: number
  /** `traceparent` is accepted only from these peers. */
  trustProxy: Network[]
}

/** Requested by machines every few seconds. */
const UNTRACED = new Set(['/livez', '/readyz', '/metrics'])

type Handler = (request: Bun.BunRequest, server: ServerHandle) => Response | Promise<Response>

/**
 * @param route the template of the path, for requests whose handler does not set a more specific one
 * @returns the observed handler. Synchronous answers stay synchronous.
 */
export const observeRequests =
  (needs: ObserverNeeds) =>
  (route: string, answer: Handler): Handler =>
  (request, server) => {
    const startedAt = performance.now()
    const { headers } = request
    const method = toKnownMethod(request.method)
    const context = createRequestContext(requestId(headers.get('x-request-id')), route)
    context.number = postRequest({
      id: context.id,
      method,
      path: pathOf(request.url),
      bytes: Number(headers.get('content-length') ?? 0),
    })
    startSpan(needs, context, method, request, server)
    const respond = (response: Response) => {
      endRequest(needs, context, { method, status: response.status, startedAt })
      // A 5xx has no details: its id leads to the log lines.
      if (response.status >= 500 && !response.headers.has('x-request-id'))
        response.headers.set('X-Request-Id', context.id)
      return response
    }
    const fail = (error: unknown) => respond(toErrorResponse(error, context.id))
    try {
      const response = runForRequest(context, () => answer(request, server))
      return response instanceof Promise ? response.then(respond, fail) : respond(response)
    } catch (error) {
      return fail(error)
    }
  }

export interface FastRequest {
  /** The template of its path. */
  route: string
  path: string
  method: string
  headers: { get(name: string): string | null }
}

/**
 * The same for requests that the fast path answers later.
 * @returns null if requests are traced, because a span needs facts that only the general HTTP server has
 */
export const observeFastRequests =
  (needs: ObserverNeeds) =>
  (request: FastRequest, answer: () => Promise<FastResponse>): Promise<FastResponse> | null =>
    getTracer() ? null : observeFast(needs, request, answer)

async function observeFast(
  needs: ObserverNeeds,
  { route, path, method, headers }: FastRequest,
  answer: () => Promise<FastResponse>,
): Promise<FastResponse> {
  const startedAt = performance.now()
  const context = createRequestContext(requestId(headers.get('x-request-id')), route)
  const bytes = Number(headers.get('content-length') ?? 0)
  context.number = postRequest({ id: context.id, method, path, bytes })
  let response: FastResponse
  try {
    response = await runForRequest(context, answer)
  } catch (error) {
    const failed = toErrorResponse(error, context.id)
    const lines = toHeaderLines(Object.fromEntries(failed.headers))
    response = { status: failed.status, headers: lines, body: await failed.text() }
  }
  endRequest(needs, context, { method, status: response.status, startedAt })
  return response
}

function startSpan(
  { trustProxy }: ObserverNeeds,
  context: RequestContext,
  method: string,
  request: Request,
  server: ServerHandle,
): void {
  const tracer = getTracer()
  if (!tracer || UNTRACED.has(context.route)) return
  const peer = server.requestIP(request)?.address
  const isTrusted = peer !== undefined && isInNetworks(peer, trustProxy)
  context.span = tracer.start({
    name: `${method} ${context.route}`,
    kind: 'server',
    parent: isTrusted ? (request.headers.get('traceparent') ?? undefined) : undefined,
    attributes: { 'http.request.method': method === 'other' ? '_OTHER' : method },
  })
}

function endRequest(
  { requests, slowRequestMs }: ObserverNeeds,
  context: RequestContext,
  { method, status, startedAt }: { method: string; status: number; startedAt: number },
): void {
  const ms = performance.now() - startedAt
  const { id, route, workspaceId, waited, span } = context
  requests.count({ route, method, status, seconds: ms / 1000 })
  if (slowRequestMs > 0 && ms >= slowRequestMs)
    log.warn('slow_request', {
      requestId: id,
      method,
      route,
      status,
      ms: Math.round(ms),
      workspaceId,
      commitQueueMs: toWhole(waited.commitQueue),
      commitMs: toWhole(waited.commit),
      hitQuestionMs: toWhole(waited.hitQuestion),
    })
  span?.rename(`${method} ${route}`)
  span?.end({
    failed: status >= 500,
    attributes: { 'http.route': route, 'http.response.status_code': status },
  })
  removeRequest(context.number)
  context.ended = true
}

const toWhole = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms))
