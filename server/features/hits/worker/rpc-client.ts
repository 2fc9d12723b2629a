// Calls from the server to the hit worker: each call has a number and gets one answer.

import { Failure } from '../../../lib/failure.ts'
import { findRequest, startChildSpan } from '../../../lib/telemetry/request-context.ts'
import type { Span } from '../../../lib/telemetry/tracing.ts'
import type { CallAsker, WorkerCall } from './protocol.ts'
import type { WorkerSupervisor } from './worker-supervisor.ts'

interface PendingCall {
  call: WorkerCall
  asker: CallAsker | undefined
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface CallOptions {
  timeoutMs?: number
  /** Aborts the call: the worker gets a message, and answers with an error. */
  signal?: AbortSignal
}

export interface RpcClient {
  /** `T` is the answer to this type of call: see answer-call.ts. @throws `unavailable` while no worker runs */
  call<T>(call: WorkerCall, options?: CallOptions): Promise<T>
  hasPending(): boolean
  /** Sends the pending calls to a worker that has just started. */
  resend(): void
  resolve(id: number, value: unknown): void
  reject(id: number, message: string, isUnavailable: boolean): void
  /** Rejects all pending calls, because the worker has exited. */
  failAll(error: unknown): void
}

const RETRY_AFTER_SECONDS = 1

/** The message says that clicks are not lost. */
const hitsUnavailable = (cause: unknown) =>
  new Failure('unavailable', 'Analytics are temporarily unavailable. Clicks are still recorded.', {
    retryAfter: RETRY_AFTER_SECONDS,
    cause,
  })

/** The worker's log lines and spans about the call belong to the waiting request. */
function findAsker(span: Span | undefined): CallAsker | undefined {
  const request = findRequest()
  return request && { requestId: request.id, traceparent: span?.traceparent }
}

export function createRpcClient(
  worker: () => Pick<WorkerSupervisor, 'sendIfRunning' | 'sendOrWake'>,
): RpcClient {
  const pending = new Map<number, PendingCall>()
  let lastId = 0
  return {
    async call<T>(call: WorkerCall, { timeoutMs, signal }: CallOptions = {}): Promise<T> {
      signal?.throwIfAborted()
      const id = ++lastId
      const answer = Promise.withResolvers<unknown>()
      const expire = () => answer.reject(hitsUnavailable(`No answer in ${timeoutMs} ms`))
      const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs)
      const cancel = () => {
        if (!worker().sendIfRunning({ type: 'cancel', id })) answer.reject(signal?.reason)
      }
      signal?.addEventListener('abort', cancel)
      const span = startChildSpan({ name: `ask hits ${call.type}`, kind: 'client' })
      const asker = findAsker(span)
      pending.set(id, { call, asker, ...answer })
      try {
        if (!worker().sendOrWake({ type: 'call', id, call, asker }))
          answer.reject(hitsUnavailable('The hit worker is away'))
        return (await answer.promise) as T
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        pending.delete(id)
        span?.end()
      }
    },
    hasPending: () => pending.size > 0,
    resend() {
      for (const [id, { call, asker }] of pending) worker().sendOrWake({ type: 'call', id, call, asker })
    },
    resolve: (id, value) => pending.get(id)?.resolve(value),
    reject(id, message, isUnavailable) {
      const error = new Error(message)
      pending.get(id)?.reject(isUnavailable ? hitsUnavailable(error) : error)
    },
    failAll(error) {
      for (const { reject } of pending.values()) reject(hitsUnavailable(error))
      pending.clear()
    },
  }
}
