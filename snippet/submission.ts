// Submits a form without leaving the page, and shows the result. When this fails, the browser submits the form.

import { formPrototype, intakeUrl } from './endpoints.ts'
import { type CaptchaConfig, type CaptchaWidget, loadCaptcha } from './load-captcha.ts'
import { FAILED, type FormErrors, type FormMessages } from './messages.ts'
import type { PageVisit } from './visit.ts'

export interface FormInfo {
  successMessage: string | null
  captcha: CaptchaConfig | null
}

/** A form that the snippet submits. */
export interface EnhancedForm {
  form: HTMLFormElement
  key: string
  facts: FormInfo
  messages: FormMessages
  captcha?: Promise<CaptchaWidget | undefined>
  /** The form is being submitted: further clicks do nothing. */
  busy?: boolean
  /** The browser has submitted the form, because the script could not reach the server. */
  native?: boolean
  /** The captcha token and the button, which the browser does not add when a script tells it to submit. */
  token?: string
  submitter?: HTMLElement | null
}

const SENT = 'Thank you. What you sent has arrived.'
const EVENT_ID_WITHIN_MS = 1_000
/** A slow phone takes 2.5 s for the proof of work. */
const TOKEN_WITHIN_MS = 20_000
const ANSWER_WITHIN_MS = 30_000
/** The server may answer before the second click of a double click, which would then send an empty form. */
const DOUBLE_CLICK_MS = 700
/** After this time the browser has left the page, or something has prevented it. */
const NATIVE_SUBMIT_MS = 5_000

const withTimeout = <T>(ms: number, promise: Promise<T>) =>
  Promise.race([promise, new Promise<undefined>((resolve) => setTimeout(resolve, ms))])

export async function fetchFormInfo(keys: string[]): Promise<Record<string, FormInfo | undefined>> {
  const response = await fetch(`${intakeUrl}forms?keys=${keys.join()}`, { credentials: 'omit' })
  return (await response.json()).forms
}

export function startCaptcha(enhanced: EnhancedForm): Promise<CaptchaWidget | undefined> | undefined {
  const { form, key, facts } = enhanced
  if (!facts.captcha) return undefined
  const again = async () => (await fetchFormInfo([key]))[key]?.captcha ?? undefined
  enhanced.captcha ??= loadCaptcha({ form, key, described: facts.captcha, again }).catch(() => {
    // Without a captcha, the server answers that the token is missing. The next try loads the captcha again.
    enhanced.captcha = undefined
    return undefined
  })
  return enhanced.captcha
}

/** Adds the event id, the captcha token, and the button that the visitor pressed. */
export function addHiddenFields(
  data: FormData,
  visit: PageVisit,
  { submitter, token }: Partial<EnhancedForm> = {},
) {
  const eventId = visit.eventId()
  if (eventId) data.set('_service_eid', eventId)
  if (token) data.set('cf-turnstile-response', token)
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
  enhanced.captcha?.then((captcha) => captcha?.reset()).catch(() => {})
}

function submitNatively(enhanced: EnhancedForm) {
  enhanced.native = true
  setTimeout(allowResend, NATIVE_SUBMIT_MS, enhanced)
  formPrototype.setAttribute.call(enhanced.form, 'method', 'post')
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
  const result = await response?.json().catch(() => undefined)
  const { form, key: formKey, messages } = enhanced
  if (response?.ok && result?.ok) {
    if (dispatch(enhanced, 'success', { formKey })) messages.succeed(enhanced.facts.successMessage || SENT)
    formPrototype.reset.call(form)
    return true
  }
  const errors: Record<string, string> = result?.errors ?? {}
  const list: FormErrors = Object.entries(errors)
  const error: string = result?.error || (list.length > 0 ? '' : FAILED)
  if (dispatch(enhanced, 'error', { formKey, status: response?.status ?? 0, error, errors }))
    messages.fail(list, error)
  return false
}

export async function submitForm(
  enhanced: EnhancedForm,
  url: string,
  submitter: HTMLElement | null,
  visit: PageVisit,
) {
  const { form, messages } = enhanced
  const abort = new AbortController()
  let response: Response | undefined
  enhanced.busy = true
  enhanced.submitter = submitter
  try {
    formPrototype.setAttribute.call(form, 'aria-busy', 'true')
    messages.clear()
    messages.prepare()
    // Before any wait: the visitor may go on typing.
    const body = new FormData(form, submitter)
    await withTimeout(EVENT_ID_WITHIN_MS, visit.reported())
    const captcha = startCaptcha(enhanced)?.then((widget) => widget?.token())
    enhanced.token = captcha && (await withTimeout(TOKEN_WITHIN_MS, captcha))
    addHiddenFields(body, visit, enhanced)
    setTimeout(() => abort.abort(), ANSWER_WITHIN_MS)
    response = await fetch(url, {
      method: 'POST',
      body,
      // Tells the server that a script asks. On plain http, and in old Safari, the browser's own headers do not.
      headers: { Accept: 'application/json' },
      credentials: 'omit',
      signal: abort.signal,
    })
  } catch {
    // After a network error nothing was stored, as far as a script can know. After a timeout it may have been stored.
    if (!abort.signal.aborted && !enhanced.native) return submitNatively(enhanced)
  }
  // Before the result: screen readers do not announce changes inside a busy element.
  formPrototype.removeAttribute.call(form, 'aria-busy')
  const stored = await showResult(enhanced, response)
  if (stored) setTimeout(allowResend, DOUBLE_CLICK_MS, enhanced)
  else allowResend(enhanced)
}
