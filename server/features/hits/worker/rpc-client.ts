// What the server asks of the ship worker and waits for: each call has a number, and gets one answer.

import { unavailable } from '../../../lib/failure.ts'
import type { WorkerCall } from './protocol.ts'
import type { WorkerSupervisor } from './worker-supervisor.ts'

interface PendingCall {
  call: WorkerCall
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface CallOptions {
  timeoutMs?: number
  /** Whoever asks may lose interest. The worker is told, and answers with an error. */
  signal?: AbortSignal
}

export function createRpcClient(worker: () => Pick<WorkerSupervisor, 'sendIfRunning' | 'sendOrWake'>) {
  const waiting = new Map<number, PendingCall>()
  let lastId = 0
  return {
    /** The worker knows what each kind of call is answered with. @throws `unavailable` while it is away */
    async ask<T>(call: WorkerCall, { timeoutMs, signal }: CallOptions = {}): Promise<T> {
      signal?.throwIfAborted()
      const id = ++lastId
      const answer = Promise.withResolvers<unknown>()
      const late = () => answer.reject(unavailable(`No answer in ${timeoutMs} ms`))
      const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
      const cancel = () => {
        if (!worker().sendIfRunning({ type: 'cancel', id })) answer.reject(signal?.reason)
      }
      signal?.addEventListener('abort', cancel)
      waiting.set(id, { call, ...answer })
      if (!worker().sendOrWake({ type: 'call', id, call }))
        answer.reject(unavailable('The ship worker is away', 1))
      try {
        return (await answer.promise) as T
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        waiting.delete(id)
      }
    },
    isWaiting: () => waiting.size > 0,
    /** To a worker that has just started. */
    request() {
      for (const [id, { call }] of waiting) worker().sendOrWake({ type: 'call', id, call })
    },
    answered: (id: number, value: unknown) => waiting.get(id)?.resolve(value),
    refused(id: number, message: string, away: boolean) {
      const error = new Error(message)
      waiting.get(id)?.reject(away ? unavailable(error, 1) : error)
    },
    /** The worker is gone, and with it every answer. */
    failAll(error: unknown) {
      for (const { reject } of waiting.values()) reject(unavailable(error, 1))
      waiting.clear()
    },
  }
}
