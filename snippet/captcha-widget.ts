// The types shared by the snippet and its captcha, which is a separate part.

import type { Challenge } from './proof-of-work.ts'

/** The captcha of a form, as `/e/forms` describes it. */
export type CaptchaConfig =
  | { provider: 'turnstile'; siteKey: string }
  | { provider: 'altcha'; challenge: Challenge }

export interface CaptchaWidget {
  /** The value of the captcha field; undefined if it is not ready in time. */
  token(): Promise<string | undefined>
  /** Must be called after each submission, because a token works once. */
  reset(): void
  /** Removes the captcha from the form. */
  remove(): void
}

export interface CaptchaRequest {
  form: HTMLFormElement
  key: string
  described: CaptchaConfig
  /** Fetches the captcha again, because a challenge is valid for some minutes only. */
  again(): Promise<CaptchaConfig | null | undefined>
  /** For a page with a nonce in its Content-Security-Policy. */
  nonce: string
}

export type LoadedCaptcha = (request: CaptchaRequest) => CaptchaWidget | Promise<CaptchaWidget>
