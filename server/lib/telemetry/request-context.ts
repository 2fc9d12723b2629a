// The request of the running code: its id for log lines, and its waits. Each `await` keeps it, so no function has to
// pass it on.

import { AsyncLocalStorage } from 'node:async_hooks'
import { setRunning } from './request-board.ts'
import { getTracer, type Span, type SpanStart } from './tracing.ts'

/** The kinds of waits that are measured. */
export type WaitKind = 'commitQueue' | 'commit' | 'hitQuestion'

export interface RequestContext {
  readonly id: string
  /** The template of its path, such as `/v1/links/{id}`. */
  route: string
  workspaceId?: number
  /** Milliseconds. */
  readonly waited: Partial<Record<WaitKind, number>>
  /** Number of running waits of a kind, and the start of the first. */
  readonly overlaps: Partial<Record<WaitKind, { works: number; from: number }>>
  span?: Span
  /** On the board of requests (`request-board.ts`); 0 if it is not there. */
  number: number
  /** Work after the answer belongs to no request. */
  ended: boolean
}

const storage = new AsyncLocalStorage<RequestContext | undefined>()

/** The current request; undefined outside of one, and after its answer. */
export function findRequest(): RequestContext | undefined {
  const request = storage.getStore()
  return request === undefined || request.ended ? undefined : request
}

/** Runs `work`, and everything that it awaits, for the request. */
export function runForRequest<T>(request: RequestContext, work: () => T): T {
  setRunning(request.number)
  return storage.run(request, work)
}

/** Call it when a request continues after a wait: from now on this request runs on the event loop. */
export const noteResumed = () => setRunning(findRequest()?.number ?? 0)

/** Runs shared work of several requests that the caller's request has started. */
export const runForNobody = <T>(work: () => T): T => storage.run(undefined, work)

/** For work that begins outside of HTTP: an attempt to deliver, a call to the hit worker, a command. */
export const createRequestContext = (id: string, route: string, span?: Span): RequestContext => ({
  id,
  route,
  waited: {},
  overlaps: {},
  span,
  number: 0,
  ended: false,
})

/** Adds facts to the current request. */
export function describeRequest(facts: Partial<Pick<RequestContext, 'route' | 'workspaceId'>>): void {
  const request = findRequest()
  if (request) Object.assign(request, facts)
}

/** A span of the request's trace; undefined where the request is not traced. */
export function startChildSpan(
  start: Omit<SpanStart, 'parent'>,
  request: RequestContext | undefined = findRequest(),
): Span | undefined {
  const parent = request?.span?.traceparent
  return parent === undefined ? undefined : getTracer()?.start({ ...start, parent })
}

/**
 * Adds a wait to a request and to its trace.
 * @param from, until on the monotonic clock (`performance.now()`)
 */
export function addWait(
  request: RequestContext | undefined,
  kind: WaitKind,
  { from, until }: { from: number; until: number },
  span?: Pick<SpanStart, 'name' | 'attributes'>,
): void {
  if (!request) return
  request.waited[kind] = (request.waited[kind] ?? 0) + until - from
  if (span) startChildSpan({ ...span, kind: 'internal', startedAt: from }, request)?.end({ endedAt: until })
}

/** Waits for the work, and adds the time to the current request. Overlapping waits count once. */
export async function measureWait<T>(kind: WaitKind, work: () => Promise<T>): Promise<T> {
  const request = findRequest()
  if (!request) return work()
  const overlap = request.overlaps[kind] ?? { works: 0, from: 0 }
  request.overlaps[kind] = overlap
  if (overlap.works++ === 0) overlap.from = performance.now()
  try {
    return await work()
  } finally {
    setRunning(request.number)
    if (--overlap.works === 0) addWait(request, kind, { from: overlap.from, until: performance.now() })
  }
}
