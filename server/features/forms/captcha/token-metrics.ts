// Metrics for the operator: how many captcha tokens had each outcome.

import type { Metric } from '../../../http/health-and-metrics.ts'

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
