// Submits a form without leaving the page, and shows the result. When this fails, the browser submits the form.

import type { CaptchaWidget } from './captcha-widget.ts'
import { formPrototype } from './endpoints.ts'
import { type FormInfo, fetchFormInfo, readPageLanguage } from './form-info.ts'
import { CAPTCHA_FIELD, FAILED, type FormErrors, type FormMessages } from './messages.ts'
import type { Site } from './site.ts'
import type { PageVisit } from './visit.ts'

/** A form that may have a captcha. */
export interface CaptchaForm {
  site: Site
  form: HTMLFormElement
  key: string
  /** Undefined until the server has described the form: until then, the browser submits it. */
  facts?: FormInfo
  captcha?: Promise<CaptchaWidget | undefined>
}

/** A form that the snippet submits. */
export interface EnhancedForm extends CaptchaForm {
  messages: FormMessages
  /** The form is being submitted: further clicks do nothing. */
  busy?: boolean
  /** The browser has submitted the form, because the script could not reach the server. */
  native?: boolean
  /** The captcha token and the button, which the browser does not add when a script tells it to submit. */
  token?: string
  submitter?: HTMLElement | null
}

export const EVENT_ID_WITHIN_MS = 1_000
/** A slow phone takes 2.5 s for the proof of work. */
export const TOKEN_WITHIN_MS = 20_000
const ANSWER_WITHIN_MS = 30_000
/** The server may answer before the second click of a double click, which would then send an empty form. */
const DOUBLE_CLICK_MS = 700
/** After this time the browser has left the page, or something has prevented it. */
const NATIVE_SUBMIT_MS = 5_000

export const withTimeout = <T>(ms: number, promise?: Promise<T>) =>
  Promise.race([promise, new Promise<undefined>((resolve) => setTimeout(resolve, ms))])

export function startCaptcha(enhanced: CaptchaForm): Promise<CaptchaWidget | undefined> | undefined {
  const { site, form, key, facts } = enhanced
  const described = facts?.captcha
  if (!described) return undefined
  const again = async () => (await fetchFormInfo(site.intakeUrl, [key]))[key]?.captcha
  enhanced.captcha ??= site
    .load('captcha')
    .then(({ captcha }) => captcha?.({ form, key, described, again, nonce: site.nonce }))
    .catch((): undefined => {
      // Without a captcha, the server answers that the token is missing. The next try loads the captcha again.
      enhanced.captcha = undefined
    })
  return enhanced.captcha
}

export const tellCaptcha = ({ captcha }: CaptchaForm, what: 'reset' | 'remove') => {
  captcha?.then((widget) => widget?.[what]()).catch(() => {})
}

/** Adds the visit, the page's language, the captcha token, and the button that the visitor pressed. */
export function addHiddenFields(
  data: FormData,
  visit: PageVisit,
  { submitter, token }: Partial<EnhancedForm> = {},
) {
  visit.addTo(data)
  if (!data.has('_lang')) data.set('_lang', readPageLanguage())
  if (token) data.set(CAPTCHA_FIELD, token)
  const button = submitter as HTMLInputElement | null | undefined
  if (button?.name && button.type !== 'image' && !data.has(button.name)) {
    data.append(button.name, button.value)
  }
}

/** Makes the form ready for the next try, with a new captcha token, because a token works once. */
export function allowResend(enhanced: EnhancedForm) {
  enhanced.busy = false
  enhanced.token = enhanced.submitter = undefined
  formPrototype.removeAttribute.call(enhanced.form, 'aria-busy')
  tellCaptcha(enhanced, 'reset')
}

function submitNatively(enhanced: EnhancedForm) {
  enhanced.native = true
  setTimeout(allowResend, NATIVE_SUBMIT_MS, enhanced)
  formPrototype.setAttribute.call(enhanced.form, 'method', 'post')
  // In any other encoding, the browser sends only the names of files.
  formPrototype.setAttribute.call(enhanced.form, 'enctype', 'multipart/form-data')
  formPrototype.submit.call(enhanced.form)
}

/** @returns false where a listener of the page prevents the default: the page shows the result itself */
const dispatch = ({ form }: EnhancedForm, type: string, detail: object) =>
  formPrototype.dispatchEvent.call(
    form,
    new CustomEvent(`towpath:${type}`, { detail, bubbles: true, cancelable: true }),
  )

/** @returns whether the submission was stored */
async function showResult(enhanced: EnhancedForm, response?: Response): Promise<boolean> {
  const result = await response?.json().catch(() => {})
  const { form, key: formKey, facts, messages } = enhanced
  if (response?.ok && result?.ok) {
    if (dispatch(enhanced, 'success', { formKey }))
      messages.succeed(facts?.successMessage || facts?.texts?.sent || '')
    formPrototype.reset.call(form)
    return true
  }
  const errors: Record<string, string> = result?.errors ?? {}
  const list: FormErrors = Object.entries(errors)
  const error: string = result?.error || (list[0] ? '' : facts?.texts?.failed || FAILED)
  if (dispatch(enhanced, 'error', { formKey, status: response?.status ?? 0, error, errors }))
    messages.fail(list, error)
  return false
}

/** The names of inputs without a file are empty. */
export const hasFile = (body: FormData) => [...body.values()].some((value) => (value as File).name)

export async function submitForm(
  enhanced: EnhancedForm,
  url: string,
  submitter: HTMLElement | null,
  visit: PageVisit,
) {
  const { form, facts, messages, site } = enhanced
  const abort = new AbortController()
  let response: Response | undefined
  enhanced.busy = true
  enhanced.submitter = submitter
  try {
    formPrototype.setAttribute.call(form, 'aria-busy', 'true')
    messages.prepare()
    // Before any wait: the visitor may go on typing.
    const body = new FormData(form, submitter)
    const uploads = facts && hasFile(body) ? (await site.load('uploads')).uploads : undefined
    response = uploads?.check(enhanced, body)
    if (!response) {
      await withTimeout(EVENT_ID_WITHIN_MS, visit.reported())
      const captcha = startCaptcha(enhanced)?.then((widget) => widget?.token())
      enhanced.token = captcha && (await withTimeout(TOKEN_WITHIN_MS, captcha))
      addHiddenFields(body, visit, enhanced)
      response = await (uploads ? uploads.send(enhanced, url, body, abort) : sendForm(url, body, abort))
    }
  } catch {
    // After a network error nothing was stored, as far as a script can know. After a timeout it may have been stored.
    if (!abort.signal.aborted && !enhanced.native) return submitNatively(enhanced)
  }
  // Before the result: screen readers do not announce changes inside a busy element.
  formPrototype.removeAttribute.call(form, 'aria-busy')
  const stored = await showResult(enhanced, response)
  setTimeout(allowResend, stored ? DOUBLE_CLICK_MS : 0, enhanced)
}

export function sendForm(url: string, body: FormData, abort: AbortController) {
  setTimeout(() => abort.abort(), ANSWER_WITHIN_MS)
  return fetch(url, {
    credentials: 'omit',
    method: 'POST',
    body,
    // Tells the server that a script sends the request. On plain http and in old Safari, the browser's own headers do
    // not.
    headers: { Accept: 'application/json' },
    signal: abort.signal,
  })
}
