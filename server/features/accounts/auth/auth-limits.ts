// How often strangers may try: what is counted are failures, by who they try to be and where they come from. Nobody is
// locked out for good, since then anybody could lock anybody out.

import { tooMany } from '../access/guard.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface Limit {
  key: string
  times: number
  windowMs: number
}

/** @param from what limits count an address by */
export const signInLimits = (email: string, from: string): Limit[] => [
  { key: `sign-in from ${from}`, times: 20, windowMs: HOUR },
  { key: `sign-in as ${email} from ${from}`, times: 5, windowMs: 15 * MINUTE },
]

export const signUpLimits = (from: string): Limit[] => [
  { key: `sign-up from ${from}`, times: 20, windowMs: HOUR },
]

/** Tokens cannot be guessed; this is for those who do not know that. */
export const tokenLimits = (from: string): Limit[] => [
  { key: `token from ${from}`, times: 20, windowMs: HOUR },
]

/** Every mail counts: the answer does not say whether there was one. */
export const resetLimits = (email: string, from: string): Limit[] => [
  { key: `reset from ${from}`, times: 20, windowMs: HOUR },
  { key: `reset of ${email} from ${from}`, times: 5, windowMs: HOUR },
  { key: `reset of ${email}`, times: 10, windowMs: HOUR },
]

/** @throws Failure `too_many` */
export async function enforceLimits(limiter: RateLimiter, limits: Limit[]): Promise<void> {
  for (const { key, times, windowMs } of limits) {
    const taken = await limiter.take(key, times, windowMs)
    if (!taken.allowed) throw tooMany(taken)
  }
}

/**
 * Counts what fails in the way that guesses do. It is counted before it is tried, and given back when it was none:
 * counted afterwards, a hundred at once would all be tried. @throws Failure `too_many`, and what `attempt` throws
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
