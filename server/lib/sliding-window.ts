// At most N in any 60 seconds, exactly: the times of the last N are remembered. (A token bucket or a fixed window
// lets up to 2 N through across its edge.)

export interface WindowResult {
  allowed: boolean
  remaining: number
  /** Milliseconds until one more is allowed; 0 when one is allowed now. */
  waitMs: number
  /** Milliseconds until the oldest counted one leaves the window. */
  resetMs: number
}

export const WINDOW_MS = 60_000

/**
 * Counts by key, in memory. Refused ones are not counted. Bounded to `keysMax`: keys that were not used since half as
 * many others came are forgotten, so that random keys cannot eat the memory. (In two generations: to keep all keys in
 * order costs 68 µs with each new one, as taking out the oldest of a long Map does.)
 * @param clock monotonic milliseconds
 */
export function createSlidingWindows({
  keysMax = 100_000,
  windowMs = WINDOW_MS,
  clock = () => performance.now(),
} = {}) {
  let young = new Map<string, number[]>()
  let old = new Map<string, number[]>()

  function live(key: string, now: number): number[] {
    const times = young.get(key) ?? keep(key, old.get(key) ?? [])
    let gone = 0
    while (gone < times.length && (times[gone] ?? 0) <= now - windowMs) gone++
    if (gone > 0) times.splice(0, gone)
    return times
  }

  function keep(key: string, times: number[]): number[] {
    if (young.size >= keysMax / 2) {
      old = young
      young = new Map()
    }
    young.set(key, times)
    return times
  }

  return {
    take(key: string, limit: number): WindowResult {
      const now = clock()
      const times = live(key, now)
      const allowed = times.length < limit
      if (allowed) times.push(now)
      // With a lowered limit several must leave before one more may come.
      const blocking = times[times.length - limit] ?? now
      return {
        allowed,
        remaining: Math.max(0, limit - times.length),
        waitMs: times.length < limit ? 0 : blocking + windowMs - now,
        resetMs: (times[0] ?? now) + windowMs - now,
      }
    },
    /** How many count at the moment. */
    used: (key: string): number => live(key, clock()).length,
    /** Takes back the newest one: it turned out not to be of the kind that is counted. */
    refund(key: string): void {
      live(key, clock()).pop()
    },
  }
}
