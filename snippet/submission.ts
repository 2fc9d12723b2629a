// One form's way to the server without leaving the page, and back. Whatever goes wrong here, the browser sends it.

import { formPrototype, intakeUrl } from './endpoints.ts'
import { type CaptchaConfig, type CaptchaWidget, loadCaptcha } from './load-captcha.ts'
import type { FormErrors, FormMessages } from './messages.ts'
import type { PageVisit } from './visit.ts'

export interface FormInfo {
  successMessage: string | null
  captcha: CaptchaConfig | null
}

/** A form that we take care of. */
export interface EnhancedForm {
  form: HTMLFormElement
  key: string
  facts: FormInfo
  messages: FormMessages
  captcha?: Promise<CaptchaWidget | undefined>
  /** Being sent: further clicks do nothing. */
  busy?: boolean
  /** Has been sent by the browser itself, as a script could not reach the server. */
  native?: boolean
  /** What the browser does not add by itself when it is told to send. */
  token?: string
  submitter?: HTMLElement | null
}

const SENT = 'Thank you. What you sent has arrived.'
const FAILED = 'This could not be sent. Please try again.'
const LINKED_WITHIN_MS = 1_000
// A slow phone takes 2.5 s for the proof of work.
const TOKEN_WITHIN_MS = 20_000
const ANSWERED_WITHIN_MS = 30_000
/** The server may answer before the second click, which would then send an empty form. */
const DOUBLE_CLICK_MS = 700
/** In which the browser has left the page, or been kept from it. */
const LEFT_WITHIN_MS = 5_000

const withTimeout = <T>(ms: number, promise: Promise<T>) =>
  Promise.race([promise, new Promise<undefined>((resolve) => setTimeout(resolve, ms))])

export async function fetchFormInfo(keys: string[]): Promise<Record<string, FormInfo | undefined>> {
  const answer = await fetch(`${intakeUrl}forms?keys=${keys.join()}`, { credentials: 'omit' })
  return (await answer.json()).forms
}

export function startCaptcha(it: EnhancedForm): Promise<CaptchaWidget | undefined> | undefined {
  const { form, key, facts } = it
  if (!facts.captcha) return undefined
  const again = async () => (await fetchFormInfo([key]))[key]?.captcha ?? undefined
  it.captcha ??= loadCaptcha({ form, key, described: facts.captcha, again }).catch(() => {
    // Without it the server says what is missing; the next try loads it again.
    it.captcha = undefined
    return undefined
  })
  return it.captcha
}

/** Adds what we know and the form does not. */
export function addHiddenFields(
  data: FormData,
  visit: PageVisit,
  { submitter, token }: Partial<EnhancedForm> = {},
) {
  const eid = visit.eventId()
  if (eid) data.set('_service_eid', eid)
  if (token) data.set('cf-turnstile-response', token)
  const button = submitter as HTMLInputElement | null | undefined
  if (button?.name && button.type !== 'image' && !data.has(button.name)) {
    data.append(button.name, button.value)
  }
}

/** Ready for the next try: with a new token, as one works once. */
export function allowResend(it: EnhancedForm) {
  it.busy = false
  it.token = it.submitter = undefined
  formPrototype.removeAttribute.call(it.form, 'aria-busy')
  it.captcha?.then((captcha) => captcha?.reset()).catch(() => {})
}

function submitNatively(it: EnhancedForm) {
  it.native = true
  setTimeout(allowResend, LEFT_WITHIN_MS, it)
  formPrototype.setAttribute.call(it.form, 'method', 'post')
  formPrototype.submit.call(it.form)
}

/** @returns false where the page shows it in its own way */
const dispatch = ({ form }: EnhancedForm, type: string, detail: object) =>
  formPrototype.dispatchEvent.call(
    form,
    new CustomEvent(`towpath:${type}`, { detail, bubbles: true, cancelable: true }),
  )

/** @returns whether it was stored */
async function showResult(it: EnhancedForm, answer?: Response): Promise<boolean> {
  const said = await answer?.json().catch(() => undefined)
  const { form, key: formKey, messages } = it
  if (answer?.ok && said?.ok) {
    if (dispatch(it, 'success', { formKey })) messages.succeed(it.facts.successMessage || SENT)
    formPrototype.reset.call(form)
    return true
  }
  const errors: Record<string, string> = said?.errors ?? {}
  const list: FormErrors = Object.entries(errors)
  const error: string = said?.error || (list.length > 0 ? '' : FAILED)
  if (dispatch(it, 'error', { formKey, status: answer?.status ?? 0, error, errors }))
    messages.fail(list, error)
  return false
}

export async function submitForm(
  it: EnhancedForm,
  url: string,
  submitter: HTMLElement | null,
  visit: PageVisit,
) {
  const { form, messages } = it
  const abort = new AbortController()
  let answer: Response | undefined
  it.busy = true
  it.submitter = submitter
  try {
    formPrototype.setAttribute.call(form, 'aria-busy', 'true')
    messages.clear()
    messages.prepare()
    // At once: what is typed while we wait is not what was sent.
    const body = new FormData(form, submitter)
    await withTimeout(LINKED_WITHIN_MS, visit.reported())
    const captcha = startCaptcha(it)?.then((opened) => opened?.token())
    it.token = captcha && (await withTimeout(TOKEN_WITHIN_MS, captcha))
    addHiddenFields(body, visit, it)
    setTimeout(() => abort.abort(), ANSWERED_WITHIN_MS)
    answer = await fetch(url, {
      method: 'POST',
      body,
      // Says that a script asks where the browser does not: on plain http, and in old Safari.
      headers: { Accept: 'application/json' },
      credentials: 'omit',
      signal: abort.signal,
    })
  } catch {
    // Without any answer nothing was stored, as far as one can know. One that is late may have been.
    if (!abort.signal.aborted && !it.native) return submitNatively(it)
  }
  // First: what changes inside of something busy is not read out.
  formPrototype.removeAttribute.call(form, 'aria-busy')
  const sent = await showResult(it, answer)
  if (sent) setTimeout(allowResend, DOUBLE_CLICK_MS, it)
  else allowResend(it)
}
