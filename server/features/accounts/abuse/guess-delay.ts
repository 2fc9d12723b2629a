// Slows down guesses at one account that come from many addresses. Only devices that are new to the account wait, and
// only briefly, so that a stranger cannot lock out the owner (docs/adr/0021-guessing.md).

import { DAY_MS } from '../../../lib/utc-day.ts'
import { tooMany } from '../access/guard.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'

/** Failures in a day before the first delay. */
const FREE = 10
/** More failures have no further effect, so they are not counted. */
const COUNTED_MAX = 200
const LONG_AFTER = 100
const SECOND = 1000

/** @param failures of the account in a day, from unknown devices @returns the pause between two tries */
function toGuessDelay(failures: number): number {
  if (failures < FREE) return 0
  return failures < LONG_AFTER ? Math.min(2 ** (failures - FREE + 1), 60) * SECOND : 300 * SECOND
}

/**
 * Counts one failure, and lets one try through in each pause.
 * @returns a function that takes the failure back, for a try that was none @throws Failure `too_many`
 */
export async function chargeGuess(limiter: RateLimiter, email: string): Promise<() => Promise<void>> {
  const key = `failed sign-in as ${email}`
  const { remaining, allowed } = await limiter.take(key, COUNTED_MAX, DAY_MS)
  const refund = async () => {
    if (allowed) await limiter.refund(key, DAY_MS)
  }
  const delay = toGuessDelay(allowed ? COUNTED_MAX - remaining - 1 : COUNTED_MAX)
  if (delay === 0) return refund
  const turn = await limiter.take(`sign-in turn as ${email} each ${delay}`, 1, delay)
  if (turn.allowed) return refund
  await refund()
  throw tooMany(turn)
}
