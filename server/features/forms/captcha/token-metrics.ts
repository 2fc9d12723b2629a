// What became of the tokens that were checked, counted for the operator.

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

/** @param possible only these are shown: a proof of work has nobody to be out of reach */
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
