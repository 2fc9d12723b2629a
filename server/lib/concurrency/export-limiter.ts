// Limits how many exports run at once. Each export takes disk and one of the two threads for native work, and one
// workspace must not take both.

import { unavailable } from '../failure.ts'

const EXPORTS_AT_ONCE = 2
/** Most exports take less time. After this time, the client must retry. */
const QUEUE_TIMEOUT_MS = 10_000
const RETRY_AFTER_S = 5

interface QueuedExport {
  workspaceId: number
  start(): void
}

/** Two exports at a time, and one for each workspace. Others wait in a queue for up to `timeoutMs`. */
export function createExportLimiter({ places = EXPORTS_AT_ONCE, timeoutMs = QUEUE_TIMEOUT_MS } = {}) {
  const running = new Set<number>()
  const queue: QueuedExport[] = []

  function startNext() {
    while (running.size < places) {
      const next = queue.findIndex(({ workspaceId }) => !running.has(workspaceId))
      if (next === -1) return
      for (const { workspaceId, start } of queue.splice(next, 1)) {
        running.add(workspaceId)
        start()
      }
    }
  }

  /** @throws Failure `unavailable` after the timeout, or the reason of the signal */
  async function waitForPlace(workspaceId: number, signal: AbortSignal) {
    const place = Promise.withResolvers<void>()
    const queued = { workspaceId, start: place.resolve }
    const leave = (reason: unknown) => {
      const at = queue.indexOf(queued)
      if (at === -1) return
      queue.splice(at, 1)
      place.reject(reason)
    }
    const onAbort = () => leave(signal.reason)
    const timer = setTimeout(() => leave(unavailable('Too many exports at once', RETRY_AFTER_S)), timeoutMs)
    signal.addEventListener('abort', onAbort)
    queue.push(queued)
    startNext()
    try {
      await place.promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  function leavePlace(workspaceId: number) {
    running.delete(workspaceId)
    startNext()
  }

  return {
    async run<T>(workspaceId: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      await waitForPlace(workspaceId, signal)
      try {
        return await work()
      } finally {
        leavePlace(workspaceId)
      }
    },
    /**
     * The same for a file that is generated while it is sent. It keeps its place until it ends, or until its receiver
     * disconnects.
     */
    async hold<T>(
      workspaceId: number,
      signal: AbortSignal,
      open: () => Promise<PieceReader<T>>,
    ): Promise<PieceReader<T>> {
      signal.throwIfAborted()
      await waitForPlace(workspaceId, signal)
      return holdUntilEnd(open, signal, () => leavePlace(workspaceId))
    },
  }
}

async function holdUntilEnd<T>(
  open: () => Promise<PieceReader<T>>,
  signal: AbortSignal,
  leavePlace: () => void,
): Promise<PieceReader<T>> {
  let isHeld = true
  const leave = () => {
    if (isHeld) leavePlace()
    isHeld = false
  }
  signal.addEventListener('abort', leave, { once: true })
  try {
    return watchEnd(await open(), leave)
  } catch (error) {
    leave()
    throw error
  }
}

/** The reading side of a generator. */
type PieceReader<T> = Pick<AsyncGenerator<T>, 'next' | 'return'>

/** A generator that was never read runs no `finally`. */
const watchEnd = <T>(pieces: PieceReader<T>, onEnd: () => void): PieceReader<T> => ({
  async next() {
    try {
      const result = await pieces.next()
      if (result.done) onEnd()
      return result
    } catch (error) {
      onEnd()
      throw error
    }
  },
  async return(value) {
    try {
      return await pieces.return(value)
    } finally {
      onEnd()
    }
  },
})
