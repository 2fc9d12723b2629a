// Metrics for the operator: how many captcha tokens had each outcome.

import type { Metric } from '../../../http/health-and-metrics.ts'

const HELP = {
  passed: 'Captcha tokens found good',
  refused: 'Captcha tokens that were broken, forged, expired or used before',
  foreign: 'Captcha tokens made for another form or site',
  replayed: 'Captcha tokens found good that another submission had used',
  unavailable: 'Captcha tokens refused because the verifier gave no answer',
  misconfigured: 'Captcha tokens refused because the verifier does not know the secret key',
}

export type TokenOutcome = keyof typeof HELP

/** @param possible the outcomes to show; a proof of work, for example, is never `unavailable` */
export function createTokenMetrics(provider: 'turnstile' | 'altcha', possible: TokenOutcome[]) {
  const counts = new Map(possible.map((outcome) => [outcome, 0]))
  return {
    count(outcome: TokenOutcome) {
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    },
    metrics: (): Metric[] =>
      [...counts].map(([outcome, value]) => ({
        name: `towpath_captcha_${provider}_${outcome}_total`,
        kind: 'counter',
        help: HELP[outcome],
        value,
      })),
  }
}
