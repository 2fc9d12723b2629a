// How many exports may be made at once: each takes disk and one of the two threads for native work, and one workspace
// must not take them from the others.

import { unavailable } from '../../lib/failure.ts'

const EXPORTS_AT_ONCE = 2
/** Most exports take less; after that somebody is better told to come back. */
const QUEUE_TIMEOUT_MS = 10_000
const RETRY_AFTER_S = 5

interface QueuedExport {
  workspaceId: number
  enter(): void
}

/** Two at a time, of each workspace one; the others wait in line for a moment. */
export function createExportLimiter({ places = EXPORTS_AT_ONCE, patienceMs = QUEUE_TIMEOUT_MS } = {}) {
  const busy = new Set<number>()
  const waiting: QueuedExport[] = []

  function admit() {
    while (busy.size < places) {
      const next = waiting.findIndex(({ workspaceId }) => !busy.has(workspaceId))
      if (next === -1) return
      for (const { workspaceId, enter } of waiting.splice(next, 1)) {
        busy.add(workspaceId)
        enter()
      }
    }
  }

  /** @throws `unavailable` when there is no place in time, or the signal's reason */
  async function enter(workspaceId: number, signal: AbortSignal) {
    const place = Promise.withResolvers<void>()
    const me = { workspaceId, enter: place.resolve }
    const leave = (reason: unknown) => {
      const at = waiting.indexOf(me)
      if (at === -1) return
      waiting.splice(at, 1)
      place.reject(reason)
    }
    const lost = () => leave(signal.reason)
    const late = setTimeout(() => leave(unavailable('Too many exports at once', RETRY_AFTER_S)), patienceMs)
    signal.addEventListener('abort', lost)
    waiting.push(me)
    admit()
    try {
      await place.promise
    } finally {
      clearTimeout(late)
      signal.removeEventListener('abort', lost)
    }
  }

  return {
    async use<T>(workspaceId: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      await enter(workspaceId, signal)
      try {
        return await work()
      } finally {
        busy.delete(workspaceId)
        admit()
      }
    },
  }
}
