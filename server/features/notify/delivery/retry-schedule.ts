// The times of retries: the example schedule of Standard Webhooks, 75 h 35 min in all
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The delay of each attempt after the attempt before it. */
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

/**
 * After this many attempts that ended with their process, assume that the delivery crashes it. Interrupted attempts do
 * not count as attempts otherwise, because a restart is not the receiver's fault.
 */
export const INTERRUPTIONS_MAX = 20

/** Spreads the retries of deliveries that failed together. */
const JITTER = 0.2
const RETRY_AFTER_MAX = 24 * HOUR

/**
 * @param last.attempts how many attempts ended with an answer or a timeout
 * @param random from 0 to 1
 * @returns when attempt `attempts + 1` is due; undefined when the schedule has no further attempt
 */
export function planNextAttempt(
  { at, attempts, retryAfterMs = 0 }: { at: number; attempts: number; retryAfterMs?: number },
  random: () => number = Math.random,
): number | undefined {
  const delay = RETRY_DELAYS[attempts]
  if (delay === undefined) return undefined
  const jittered = Math.round(delay * (1 + JITTER * (2 * random() - 1)))
  return at + Math.max(jittered, Math.min(retryAfterMs, RETRY_AFTER_MAX))
}

/** Until when the whole channel pauses because its service sent Retry-After; null where it did not. */
export const planPauseEnd = (at: number, retryAfterMs: number | undefined): number | null =>
  retryAfterMs === undefined || retryAfterMs <= 0 ? null : at + Math.min(retryAfterMs, RETRY_AFTER_MAX)
