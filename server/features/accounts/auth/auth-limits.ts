// Limits on sign-in, sign-up and password resets. They count by client address, and by account and client address: a
// limit by account alone would let a stranger lock a person out of their account.

import { tooMany } from '../access/guard.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface Limit {
  key: string
  max: number
  windowMs: number
}

/** @param from the limit key of the client's address */
export const signInLimits = (email: string, from: string): Limit[] => [
  { key: `sign-in from ${from}`, max: 20, windowMs: HOUR },
  { key: `sign-in as ${email} from ${from}`, max: 5, windowMs: 15 * MINUTE },
]

export const signUpLimits = (from: string): Limit[] => [
  { key: `sign-up from ${from}`, max: 20, windowMs: HOUR },
]

/** Limits wrong tokens. A token of 256 random bits cannot be guessed, so this only saves work. */
export const tokenLimits = (from: string): Limit[] => [{ key: `token from ${from}`, max: 20, windowMs: HOUR }]

/** Every request counts, because the answer does not say whether a mail was sent. */
export const resetLimits = (email: string, from: string): Limit[] => [
  { key: `reset from ${from}`, max: 20, windowMs: HOUR },
  { key: `reset of ${email} from ${from}`, max: 5, windowMs: HOUR },
  { key: `reset of ${email}`, max: 10, windowMs: HOUR },
]

/** Counts one in each limit. @throws Failure `too_many` when a limit is reached */
export async function enforceLimits(limiter: RateLimiter, limits: Limit[]): Promise<void> {
  for (const { key, max, windowMs } of limits) {
    const result = await limiter.take(key, max, windowMs)
    if (!result.allowed) throw tooMany(result)
  }
}

/**
 * Counts failed guesses. Charges before the attempt and refunds on success, so that parallel guesses cannot slip
 * through.
 * @param isGuess whether an error of `attempt` is a wrong guess @throws Failure `too_many`, and what `attempt` throws
 */
export async function limitGuesses<T>(
  limiter: RateLimiter,
  limits: Limit[],
  attempt: () => Promise<T>,
  isGuess: (error: unknown) => boolean,
): Promise<T> {
  await enforceLimits(limiter, limits)
  const refund = async () => {
    for (const { key, windowMs } of limits) await limiter.refund(key, windowMs)
  }
  try {
    const value = await attempt()
    await refund()
    return value
  } catch (error) {
    if (!isGuess(error)) await refund()
    throw error
  }
}
