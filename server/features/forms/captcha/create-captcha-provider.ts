// Chooses the captcha of the instance.

import type { CaptchaProvider } from './captcha-provider.ts'
import { createProofOfWork } from './proof-of-work.ts'
import { createTurnstile, type TurnstileKeys } from './turnstile.ts'

export interface CaptchaNeeds {
  /** The installation's secret. The proof of work derives its key from it. */
  secret: string
  turnstile?: TurnstileKeys
  now: () => number
}

/**
 * Cloudflare Turnstile where the operator has keys for it, else the built-in proof of work. The shape of a token never
 * decides.
 */
export function createCaptchaProvider({ secret, turnstile, now }: CaptchaNeeds): CaptchaProvider {
  return turnstile ? createTurnstile({ keys: turnstile, now }) : createProofOfWork({ secret, now })
}
