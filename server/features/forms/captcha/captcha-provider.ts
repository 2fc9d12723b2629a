// The contract of a captcha provider: it tells the page how to make a token, checks the token that comes with a form, and
// counts the outcomes of tokens for the operator.

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

/** The outcome of a token. */
const OUTCOMES = [
  'passed',
  // Broken, forged, expired or used before.
  'refused',
  // Made for another form or site.
  'foreign',
  // Good, and used by another submission.
  'replayed',
  // The verifier gave no answer.
  'unavailable',
  // The verifier does not know the secret key.
  'misconfigured',
] as const

export type TokenOutcome = (typeof OUTCOMES)[number]

/** @param possible the outcomes to show; a proof of work, for example, is never `unavailable` */
export function createTokenMetrics(provider: 'turnstile' | 'altcha', possible: TokenOutcome[]) {
  const counts = new Map(possible.map((outcome) => [outcome, 0]))
  return {
    count(outcome: TokenOutcome) {
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    },
    metrics: (): Metric[] =>
      [...counts].map(([outcome, value]) => ({
        name: 'towpath_captcha_tokens_total',
        kind: 'counter',
        help: 'Captcha tokens by result',
        labels: { provider, outcome },
        value,
      })),
  }
}
