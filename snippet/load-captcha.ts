// Fetches the captcha's own file, where a form needs it: a script that is checked against the hash this one was built
// with, so that pinning the snippet pins both.

import { intakeUrl, scriptElement } from './endpoints.ts'

/** As the server describes it at `/e/forms`. */
export type CaptchaConfig =
  | { provider: 'turnstile'; siteKey: string }
  | { provider: 'altcha'; challenge: import('./proof-of-work.ts').Challenge }

export interface CaptchaWidget {
  /** What goes into the captcha field; undefined where there is none in time. */
  token(): Promise<string | undefined>
  /** After each try: a token works once. */
  reset(): void
}

export interface CaptchaRequest {
  form: HTMLFormElement
  key: string
  described: CaptchaConfig
  /** Asks the server once more: a challenge is good for some minutes. */
  again(): Promise<CaptchaConfig | undefined>
  /** For a page whose policy goes by nonces. */
  nonce: string
}

declare global {
  interface Window {
    /** Set while the snippet is on the page; the second file puts itself here. */
    __towpath?: { captcha?: (asked: CaptchaRequest) => CaptchaWidget | Promise<CaptchaWidget> }
  }
}

/** Written in when the file is built. */
declare const CAPTCHA: string
declare const CAPTCHA_INTEGRITY: string

const nonce = scriptElement?.nonce ?? ''
let loading: Promise<void> | undefined

const load = () =>
  new Promise<void>((resolve, reject) => {
    const element = document.createElement('script')
    element.onload = () => resolve()
    element.onerror = () => {
      // The next try may have a network.
      loading = undefined
      reject()
    }
    element.crossOrigin = 'anonymous'
    element.integrity = CAPTCHA_INTEGRITY
    element.nonce = nonce
    element.src = intakeUrl + CAPTCHA
    document.head.append(element)
  })

export async function loadCaptcha(asked: Omit<CaptchaRequest, 'nonce'>): Promise<CaptchaWidget | undefined> {
  loading ??= load()
  await loading
  return window.__towpath?.captcha?.({ ...asked, nonce })
}
