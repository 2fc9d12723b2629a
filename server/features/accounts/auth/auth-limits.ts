// Limits on sign-in, sign-up and password resets. They count by client address, and by account and client address: a
// limit by account alone would let a stranger lock a person out of their account. (abuse/guess-delay.ts slows down
// guesses that come from many addresses.)

import { DAY_MS } from '../../../lib/utc-day.ts'
import { chargeGuess } from '../abuse/guess-delay.ts'
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

/** For a browser that has signed in to the account before: failures of strangers do not count. */
const deviceLimits = (email: string, device: string): Limit[] => [
  { key: `sign-in as ${email} by device ${device}`, max: 10, windowMs: 15 * MINUTE },
]

export const signUpLimits = (from: string): Limit[] => [
  { key: `sign-up from ${from}`, max: 20, windowMs: HOUR },
]

/** Under `SIGNUP=open`. Every request counts: each one that succeeds can become an account. */
export const signUpMailLimits = (from: string): Limit[] => [
  { key: `sign-up mail from ${from}`, max: 10, windowMs: HOUR },
  { key: `sign-up mail from ${from} a day`, max: 30, windowMs: DAY_MS },
  { key: 'sign-up mail', max: 300, windowMs: DAY_MS },
]

/** Limits wrong tokens. A token of 256 random bits cannot be guessed, so this only saves work. */
export const tokenLimits = (from: string): Limit[] => [{ key: `token from ${from}`, max: 20, windowMs: HOUR }]

/** Every request counts, because the answer does not say whether a mail was sent. */
export const resetLimits = (from: string): Limit[] => [{ key: `reset from ${from}`, max: 20, windowMs: HOUR }]

/**
 * Mails of links to one account. A request above the limit is answered like every other one, and sends nothing. A link
 * works for half an hour, so the mailbox always has one that works.
 */
export async function mayMailReset(limiter: RateLimiter, email: string): Promise<boolean> {
  return (await limiter.take(`reset of ${email}`, 3, 30 * MINUTE)).allowed
}

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

/** The account, the client's address, and the known device (known-devices.ts). */
export interface SignInAttempt {
  email: string
  /** The limit key of the client's address. */
  from: string
  device: string | undefined
}

/** Limits the failed sign-ins to an account. @throws as `limitGuesses` does */
export async function limitSignIns<T>(
  limiter: RateLimiter,
  { email, from, device }: SignInAttempt,
  attempt: () => Promise<T>,
  isGuess: (error: unknown) => boolean,
): Promise<T> {
  if (device !== undefined) return limitGuesses(limiter, deviceLimits(email, device), attempt, isGuess)
  const delayed = async () => {
    const refund = await chargeGuess(limiter, email)
    try {
      const value = await attempt()
      await refund()
      return value
    } catch (error) {
      if (!isGuess(error)) await refund()
      throw error
    }
  }
  return limitGuesses(limiter, signInLimits(email, from), delayed, isGuess)
}
