// Cloudflare's widget, rendered by ourselves: only so can it be made anew after a failure, and be told for which form
// its token is.

import type { CaptchaRequest, CaptchaWidget } from './load-captcha.ts'

const SCRIPT = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'

/** A widget that nobody has to touch has its token long before that. */
const TOKEN_WITHIN_MS = 8_000

/** What we use of it. */
interface Api {
  render(element: Element, options: Record<string, unknown>): string
  reset(id: string): void
  getResponse(id: string): string | undefined
}

const api = () => (window as { turnstile?: Api }).turnstile

let loading: Promise<void> | undefined

const load = (nonce: string) =>
  new Promise<void>((resolve, reject) => {
    const element = document.createElement('script')
    element.onload = () => resolve()
    element.onerror = () => {
      loading = undefined
      reject()
    }
    element.nonce = nonce
    element.src = SCRIPT
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
    // Both come back with the token's verification: a token for one form is none for another.
    action: 'form',
    cData: key,
    size: 'flexible',
    callback: settle,
    'error-callback': () => {
      settle()
      // It has been dealt with; otherwise the widget complains in the page's console.
      return true
    },
    // Somebody has to click first: the server's answer says so.
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
  }
}

/** Before the button that sends, where people look next. */
function insertBeforeButton(form: HTMLFormElement, box: Element) {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('button,input')]
  const button = buttons.find((each) => each.form === form && /^(submit|image)$/.test(each.type))
  if (button && HTMLFormElement.prototype.contains.call(form, button)) button.before(box)
  else HTMLFormElement.prototype.append.call(form, box)
}
