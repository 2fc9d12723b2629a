// When a delivery is tried again: the schedule that Standard Webhooks gives as its example, 75 h 35 min in all.

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How long before each attempt, after the one before. */
export const RETRY_DELAYS = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const

export const ATTEMPTS_MAX = RETRY_DELAYS.length

/** So often may an attempt end with the process before it is taken for what ends it. A restart is not the receiver's. */
export const INTERRUPTIONS_MAX = 20

/** So that the thousands that failed together do not come back together. */
const JITTER = 0.2
const RETRY_AFTER_MAX = 24 * HOUR

/**
 * When attempt `attempts + 1` is due; undefined when there is none any more.
 * @param attempts those that ended with an answer, or without one in time @param random from 0 to 1
 */
export function planNextAttempt(
  { at, attempts, retryAfterMs = 0 }: { at: number; attempts: number; retryAfterMs?: number },
  random: () => number = Math.random,
): number | undefined {
  const wait = RETRY_DELAYS[attempts]
  if (wait === undefined) return undefined
  const spread = Math.round(wait * (1 + JITTER * (2 * random() - 1)))
  return at + Math.max(spread, Math.min(retryAfterMs, RETRY_AFTER_MAX))
}

/** Until when a whole channel is left alone because its service said so. */
export const planPauseEnd = (at: number, retryAfterMs: number | undefined): number | null =>
  retryAfterMs === undefined || retryAfterMs <= 0 ? null : at + Math.min(retryAfterMs, RETRY_AFTER_MAX)
