// Whether a person sent the form: one question with two providers behind it, Turnstile or the built-in proof of work.

import type { Db } from '../../storage/rows/engine.ts'

/** A token that was found good. Spending it, in the submission's own transaction, tells whether it still was unspent. */
export interface GoodToken {
  spend(db: Db): Promise<boolean>
}

export interface Captcha {
  /** What the page needs to make a token for this form; plain data for the snippet. */
  describe(formKey: string): object
  /** @returns undefined where the token is not good, or nobody could say so in time. Never throws. */
  check(asked: { formKey: string; token: string; address: string }): Promise<GoodToken | undefined>
}
