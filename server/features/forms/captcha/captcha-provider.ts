// The contract of a captcha provider: it tells the page how to make a token, and checks the token that comes with a
// form.

import type { Metric } from '../../../http/health-and-metrics.ts'
import type { Connection } from '../../../storage/database/open-database.ts'

/** A token that passed the check. */
export interface VerifiedToken {
  /** Uses the token up, in the submission's own transaction. @returns false where another submission had used it */
  spend(connection: Connection): Promise<boolean>
}

export interface CaptchaTokenInput {
  formKey: string
  token: string
  address: string
  /** The form's `allowedOrigins`: the sites where a token may come from. An empty list allows any site. */
  origins?: string[]
}

export interface CaptchaProvider {
  /** Plain data from which the snippet makes a token for this form. */
  describe(formKey: string): object
  /** @returns undefined where the token is wrong, or where the verifier gave no answer in time. Never throws. */
  check(input: CaptchaTokenInput): Promise<VerifiedToken | undefined>
  /** The number of tokens by outcome, since the process started. */
  metrics(): Metric[]
}
