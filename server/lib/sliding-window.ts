// A rate limit of exactly N in any 60 seconds: it stores the times of the last N. (A token bucket or a fixed window lets
// up to 2 N through in 60 seconds.)

import { sha256Hex } from './crypto/sha256.ts'
import { createGenerations } from './generations.ts'
import { copyText } from './text.ts'

export interface WindowResult {
  allowed: boolean
  remaining: number
  /** Milliseconds until the next one is allowed; 0 when it is allowed now. */
  waitMs: number
  /** Milliseconds until the oldest counted time leaves the window. */
  resetMs: number
}

export const WINDOW_MS = 60_000

/** Usual keys, such as an address, are shorter. Strangers choose parts of some keys, and must not choose their weight. */
const KEY_MAX = 128

/** A text of bounded length that stands for the key. */
export const toShortKey = (key: string) => (key.length <= KEY_MAX ? key : sha256Hex(key))

/**
 * Counts by key, in memory. A refused call does not count. There are at most `keysMax` keys, so that random keys cannot
 * fill the memory: a key goes when `keysMax / 2` other keys have come since its last use.
 * @param options.clock monotonic milliseconds
 */
export function createSlidingWindows({
  keysMax = 100_000,
  windowMs = WINDOW_MS,
  clock = () => performance.now(),
} = {}) {
  const timesByKey = createGenerations<number[]>({ entriesMax: keysMax / 2 })

  /** The times of the key that are in the window. */
  function getTimes(key: string, now: number): number[] {
    const times = timesByKey.get(toShortKey(key)) ?? store(key)
    let expired = 0
    while (expired < times.length && (times[expired] ?? 0) <= now - windowMs) expired++
    if (expired > 0) times.splice(0, expired)
    return times
  }

  function store(key: string): number[] {
    const times: number[] = []
    // A key may be a part of a header: a copy does not keep the whole header in memory.
    timesByKey.set(copyText(toShortKey(key)), times)
    return times
  }

  return {
    take(key: string, limit: number): WindowResult {
      const now = clock()
      const times = getTimes(key, now)
      const allowed = times.length < limit
      if (allowed) times.push(now)
      // After the limit was lowered, several times must leave the window before the next call is allowed.
      const blocking = times[times.length - limit] ?? now
      return {
        allowed,
        remaining: Math.max(0, limit - times.length),
        waitMs: times.length < limit ? 0 : blocking + windowMs - now,
        resetMs: (times[0] ?? now) + windowMs - now,
      }
    },
    /** Number of counted calls in the window. */
    count: (key: string): number => getTimes(key, clock()).length,
    /** Refunds the newest call, which turned out not to count. */
    refund(key: string): void {
      getTimes(key, clock()).pop()
    },
  }
}
