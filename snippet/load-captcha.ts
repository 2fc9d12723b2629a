// Loads the second file of the snippet when a form has a captcha. The browser checks that file against a hash in this
// file, so that a page that pins the snippet pins both.

import { intakeUrl, scriptElement } from './endpoints.ts'

/** The captcha of a form, as `/e/forms` describes it. */
export type CaptchaConfig =
  | { provider: 'turnstile'; siteKey: string }
  | { provider: 'altcha'; challenge: import('./proof-of-work.ts').Challenge }

export interface CaptchaWidget {
  /** The value of the captcha field; undefined when there is none in time. */
  token(): Promise<string | undefined>
  /** Must be called after each submission, because a token works once. */
  reset(): void
}

export interface CaptchaRequest {
  form: HTMLFormElement
  key: string
  described: CaptchaConfig
  /** Fetches the captcha again, because a challenge is valid for some minutes only. */
  again(): Promise<CaptchaConfig | undefined>
  /** For a page with a nonce in its Content-Security-Policy. */
  nonce: string
}

declare global {
  interface Window {
    /** Set while the snippet is on the page. The second file sets `captcha`. */
    __towpath?: { captcha?: (request: CaptchaRequest) => CaptchaWidget | Promise<CaptchaWidget> }
  }
}

/** The build inserts the name and hash of the second file. */
declare const CAPTCHA: string
declare const CAPTCHA_INTEGRITY: string

const nonce = scriptElement?.nonce ?? ''
let loading: Promise<void> | undefined

const load = () =>
  new Promise<void>((resolve, reject) => {
    const element = document.createElement('script')
    element.onload = () => resolve()
    element.onerror = () => {
      // The next try loads again: the network may be back.
      loading = undefined
      reject()
    }
    element.crossOrigin = 'anonymous'
    element.integrity = CAPTCHA_INTEGRITY
    element.nonce = nonce
    element.src = intakeUrl + CAPTCHA
    document.head.append(element)
  })

export async function loadCaptcha(
  request: Omit<CaptchaRequest, 'nonce'>,
): Promise<CaptchaWidget | undefined> {
  loading ??= load()
  await loading
  return window.__towpath?.captcha?.({ ...request, nonce })
}
