// Whether a person sent the form: one question with two providers behind it, Turnstile or the built-in proof of work.

import type { Metric } from '../../../http/health-and-metrics.ts'
import type { Connection } from '../../../storage/database/database.ts'
import { createProofOfWork } from './proof-of-work.ts'
import { createTurnstile, type TurnstileKeys } from './turnstile.ts'

/** A token that was found good. Spending it, in the submission's own transaction, tells whether it still was unspent. */
export interface VerifiedToken {
  spend(connection: Connection): Promise<boolean>
}

export interface CaptchaTokenInput {
  formKey: string
  token: string
  address: string
  /** The form's `allowedOrigins`: where a token may have been made. None is anywhere. */
  origins?: string[]
}

export interface CaptchaProvider {
  /** What the page needs to make a token for this form; plain data for the snippet. */
  describe(formKey: string): object
  /** @returns undefined where the token is not good, or nobody could say so in time. Never throws. */
  check(asked: CaptchaTokenInput): Promise<VerifiedToken | undefined>
  /** How often each outcome was, since the start. */
  metrics(): Metric[]
}

export interface CaptchaNeeds {
  /** The installation's own, from which the key of the proof of work is derived. */
  secret: string
  turnstile?: TurnstileKeys
  now: () => number
}

/** The operator's keys decide for the whole instance: a token's own looks never do. */
export function createCaptchaProvider({ secret, turnstile, now }: CaptchaNeeds): CaptchaProvider {
  return turnstile ? createTurnstile({ keys: turnstile, now }) : createProofOfWork({ secret, now })
}
