// At most N in any 60 seconds, exactly: the times of the last N are remembered. (A token bucket or a fixed window
// lets up to 2 N through across its edge.)

export interface Taken {
  allowed: boolean
  remaining: number
  /** Milliseconds until one more is allowed; 0 when one is allowed now. */
  waitMs: number
  /** Milliseconds until the oldest counted one leaves the window. */
  resetMs: number
}

export const WINDOW_MS = 60_000

/**
 * Counts by key, in memory. Refused ones are not counted. Bounded: past `keysMax` the key that was used longest ago
 * is forgotten, so that random keys cannot eat the memory.
 * @param clock monotonic milliseconds
 */
export function slidingWindows({
  keysMax = 100_000,
  windowMs = WINDOW_MS,
  clock = () => performance.now(),
} = {}) {
  const windows = new Map<string, number[]>()

  function live(key: string, now: number): number[] {
    const times = windows.get(key) ?? []
    let gone = 0
    while (gone < times.length && (times[gone] ?? 0) <= now - windowMs) gone++
    if (gone > 0) times.splice(0, gone)
    return times
  }

  function touch(key: string, times: number[]) {
    windows.delete(key)
    windows.set(key, times)
    if (windows.size <= keysMax) return
    const oldest = windows.keys().next().value
    if (oldest !== undefined) windows.delete(oldest)
  }

  return {
    take(key: string, limit: number): Taken {
      const now = clock()
      const times = live(key, now)
      const allowed = times.length < limit
      if (allowed) times.push(now)
      touch(key, times)
      // With a lowered limit several must leave before one more may come.
      const blocking = times[times.length - limit] ?? now
      return {
        allowed,
        remaining: Math.max(0, limit - times.length),
        waitMs: times.length < limit ? 0 : blocking + windowMs - now,
        resetMs: (times[0] ?? now) + windowMs - now,
      }
    },
  }
}
