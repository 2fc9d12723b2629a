// Whether a person sent the form: one question with two providers behind it, Turnstile or the built-in proof of work.

import type { Figure } from '../../http/operations.ts'
import type { Db } from '../../storage/rows/engine.ts'
import { openProofOfWork } from './proof-of-work.ts'
import { openTurnstile, type TurnstileKeys } from './turnstile.ts'

/** A token that was found good. Spending it, in the submission's own transaction, tells whether it still was unspent. */
export interface GoodToken {
  spend(db: Db): Promise<boolean>
}

export interface AskedToken {
  formKey: string
  token: string
  address: string
  /** The form's `allowedOrigins`: where a token may have been made. None is anywhere. */
  origins?: string[]
}

export interface Captcha {
  /** What the page needs to make a token for this form; plain data for the snippet. */
  describe(formKey: string): object
  /** @returns undefined where the token is not good, or nobody could say so in time. Never throws. */
  check(asked: AskedToken): Promise<GoodToken | undefined>
  /** How often each outcome was, since the start. */
  figures(): Figure[]
}

export interface CaptchaNeeds {
  /** The installation's own, from which the key of the proof of work is derived. */
  secret: string
  turnstile?: TurnstileKeys
  now: () => number
}

/** The operator's keys decide for the whole instance: a token's own looks never do. */
export function openCaptcha({ secret, turnstile, now }: CaptchaNeeds): Captcha {
  return turnstile ? openTurnstile({ keys: turnstile, now }) : openProofOfWork({ secret, now })
}
