// Fetches the captcha's own file, where a form needs it: a script that is checked against the hash this one was built
// with, so that pinning the snippet pins both.

import { intake, script } from './place.ts'

/** As the server describes it at `/e/forms`. */
export type Described =
  | { provider: 'turnstile'; siteKey: string }
  | { provider: 'altcha'; challenge: import('./proof-of-work.ts').Challenge }

export interface Captcha {
  /** What goes into the captcha field; undefined where there is none in time. */
  token(): Promise<string | undefined>
  /** After each try: a token works once. */
  reset(): void
}

export interface CaptchaAsked {
  form: HTMLFormElement
  key: string
  described: Described
  /** Asks the server once more: a challenge is good for some minutes. */
  again(): Promise<Described | undefined>
  /** For a page whose policy goes by nonces. */
  nonce: string
}

declare global {
  interface Window {
    /** Set while the snippet is on the page; the second file puts itself here. */
    __towpath?: { captcha?: (asked: CaptchaAsked) => Captcha | Promise<Captcha> }
  }
}

/** Written in when the file is built. */
declare const CAPTCHA: string
declare const CAPTCHA_INTEGRITY: string

const nonce = script?.nonce ?? ''
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
    element.src = intake + CAPTCHA
    document.head.append(element)
  })

export async function openCaptcha(asked: Omit<CaptchaAsked, 'nonce'>): Promise<Captcha | undefined> {
  loading ??= load()
  await loading
  return window.__towpath?.captcha?.({ ...asked, nonce })
}
