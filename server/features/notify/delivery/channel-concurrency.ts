// Decides how many attempts to one channel run at once: more while its receiver answers at once, fewer when it slows down
// or fails (additive increase, multiplicative decrease). The state is in memory, and starts again after a pause.

import type { ChannelRow } from '../channels/channel.ts'
import type { REPLY_CHANNEL } from '../outbox/enqueue-reply.ts'
import type { ChannelType } from '../schema.ts'

/** Attempts at once that every channel may have, whatever its receiver does. */
export const BASE_CONCURRENCY = 2

/**
 * The most for one channel, in all processes together. Chat services limit the rate of a channel: Slack to one message a
 * second (https://api.slack.com/apis/rate-limits), Discord to five in two seconds, Telegram to 20 a minute in a group.
 * More at once would only be refused. Mails share the connections to the mail server (http/mail/smtp.ts).
 */
export const CONCURRENCY_MAX: Record<ChannelType | typeof REPLY_CHANNEL, number> = {
  webhook: 16,
  http: 16,
  email: 4,
  reply: 4,
  slack: BASE_CONCURRENCY,
  discord: BASE_CONCURRENCY,
  telegram: BASE_CONCURRENCY,
  teams: BASE_CONCURRENCY,
}

/** An answer within this time says that the receiver could take more. */
const QUICK_MS = 500
/** An answer after this time says that it has too much. */
const SLOW_MS = 2_000
const FORGOTTEN_AFTER_MS = 60_000
const REMEMBERED_MAX = 1_000

/** All times are of the monotonic clock. */
interface Pace {
  limit: number
  /** Since the limit last changed: quick answers, and whether as many as it allows ran at once. */
  quick: number
  tried: boolean
  shrunkAt: number
  usedAt: number
}

export interface AnsweredAttempt {
  delivered: boolean
  startedAt: number
  /** The time that the receiver took. */
  tookMs: number
}

const newPace = (now: number): Pace => ({
  limit: BASE_CONCURRENCY,
  quick: 0,
  tried: false,
  shrunkAt: 0,
  usedAt: now,
})

export function createChannelConcurrency(clock: () => number = () => performance.now()) {
  const paces = new Map<number, Pace>()
  const find = (id: number) => {
    const pace = paces.get(id)
    return pace && clock() - pace.usedAt < FORGOTTEN_AFTER_MS ? pace : undefined
  }
  function remember(id: number, pace: Pace) {
    paces.delete(id)
    paces.set(id, pace)
    const [longestUnused] = paces.keys()
    if (paces.size > REMEMBERED_MAX && longestUnused !== undefined) paces.delete(longestUnused)
  }
  return {
    getLimit: ({ id }: Pick<ChannelRow, 'id'>) => find(id)?.limit ?? BASE_CONCURRENCY,
    /** @param running the attempts to the channel that run now in this process */
    noteRunning({ id }: Pick<ChannelRow, 'id'>, running: number) {
      const pace = find(id) ?? newPace(clock())
      if (running < pace.limit) return
      pace.tried = true
      remember(id, pace)
    },
    record({ id, type }: Pick<ChannelRow, 'id' | 'type'>, attempt: AnsweredAttempt) {
      const now = clock()
      const pace = find(id)
      // A channel that never had two attempts at once has the limit that it began with.
      if (!pace) return
      pace.usedAt = now
      if (!attempt.delivered || attempt.tookMs >= SLOW_MS) shrink(pace, attempt, now)
      else if (attempt.tookMs < QUICK_MS) grow(pace, CONCURRENCY_MAX[type as keyof typeof CONCURRENCY_MAX])
      remember(id, pace)
    },
  }
}

export type ChannelConcurrency = ReturnType<typeof createChannelConcurrency>

/**
 * Raises the limit by one after as many quick answers as the limit, and only if the limit was reached: a higher one was
 * never tried.
 */
function grow(pace: Pace, max: number) {
  if (!pace.tried || pace.limit >= max) return
  pace.quick++
  if (pace.quick >= pace.limit) setLimit(pace, pace.limit + 1)
}

function setLimit(pace: Pace, limit: number) {
  pace.limit = limit
  pace.quick = 0
  pace.tried = false
}

/** Halves once for all attempts that were on their way together. */
function shrink(pace: Pace, { startedAt }: AnsweredAttempt, now: number) {
  pace.quick = 0
  if (startedAt < pace.shrunkAt) return
  setLimit(pace, Math.max(BASE_CONCURRENCY, Math.floor(pace.limit / 2)))
  pace.shrunkAt = now
}
