// Renders Cloudflare's Turnstile widget explicitly: only then can the snippet reset it after a failure, and name the form
// that a token is for.

import type { CaptchaRequest, CaptchaWidget } from './captcha-widget.ts'
import { insertBeforeButton } from './insert-before-button.ts'
import { ownUrls, type ScriptUrlPolicy } from './script-url.ts'

const SCRIPT = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'

/** A widget that needs no click has its token long before this. */
const TOKEN_WITHIN_MS = 8_000

/** The part of Turnstile's API that the snippet uses. */
interface Api {
  render(element: Element, options: Record<string, unknown>): string
  reset(id: string): void
  remove(id: string): void
  getResponse(id: string): string | undefined
}

const api = () => (window as { turnstile?: Api }).turnstile

let loading: Promise<void> | undefined
let policy: ScriptUrlPolicy | undefined

const load = (nonce: string) =>
  new Promise<void>((resolve, reject) => {
    const element = document.createElement('script')
    element.onload = () => resolve()
    element.onerror = () => {
      loading = undefined
      reject()
    }
    element.nonce = nonce
    try {
      policy ??= trustedTypes.createPolicy('towpath-captcha', ownUrls)
    } catch {
      // As in script-site.ts.
    }
    element.src = (policy ?? ownUrls).createScriptURL(SCRIPT)
    document.head.append(element)
  })

export async function renderTurnstile(
  { form, key, nonce }: CaptchaRequest,
  sitekey: string,
): Promise<CaptchaWidget> {
  if (!api()) {
    loading ??= load(nonce)
    await loading
  }
  const turnstile = api() as Api
  let waiting: ((token?: string) => void)[] = []
  const settle = (token?: string) => {
    for (const resolve of waiting) resolve(token)
    waiting = []
  }
  const box = document.createElement('div')
  insertBeforeButton(form, box)
  const id = turnstile.render(box, {
    sitekey,
    // The server gets both when it verifies the token, so a token of one form is not valid for another.
    action: 'form',
    cData: key,
    size: 'flexible',
    callback: settle,
    'error-callback': () => {
      settle()
      // True means handled. Otherwise the widget writes an error to the page's console.
      return true
    },
    // The visitor must click the widget first; the server's answer says so.
    'before-interactive-callback': () => settle(),
  })
  return {
    token: async () =>
      turnstile.getResponse(id) ||
      new Promise((resolve) => {
        waiting.push(resolve)
        setTimeout(resolve, TOKEN_WITHIN_MS)
      }),
    reset: () => turnstile.reset(id),
    remove() {
      turnstile.remove(id)
      box.remove()
    },
  }
}
