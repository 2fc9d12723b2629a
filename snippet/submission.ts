// One form's way to the server without leaving the page, and back. Whatever goes wrong here, the browser sends it.

import { type Captcha, type Described, openCaptcha } from './captcha-loading.ts'
import type { Errors, Messages } from './messages.ts'
import { intake, proto } from './place.ts'
import type { Visit } from './visit.ts'

export interface Facts {
  successMessage: string | null
  captcha: Described | null
}

/** A form that we take care of. */
export interface Enhanced {
  form: HTMLFormElement
  key: string
  facts: Facts
  messages: Messages
  captcha?: Promise<Captcha | undefined>
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

const within = <T>(ms: number, promise: Promise<T>) =>
  Promise.race([promise, new Promise<undefined>((resolve) => setTimeout(resolve, ms))])

export async function askFacts(keys: string[]): Promise<Record<string, Facts | undefined>> {
  const answer = await fetch(`${intake}forms?keys=${keys.join()}`, { credentials: 'omit' })
  return (await answer.json()).forms
}

export function captchaOf(it: Enhanced): Promise<Captcha | undefined> | undefined {
  const { form, key, facts } = it
  if (!facts.captcha) return undefined
  const again = async () => (await askFacts([key]))[key]?.captcha ?? undefined
  it.captcha ??= openCaptcha({ form, key, described: facts.captcha, again }).catch(() => {
    // Without it the server says what is missing; the next try loads it again.
    it.captcha = undefined
    return undefined
  })
  return it.captcha
}

/** Adds what we know and the form does not. */
export function complete(data: FormData, visit: Visit, { submitter, token }: Partial<Enhanced> = {}) {
  const eid = visit.id()
  if (eid) data.set('_service_eid', eid)
  if (token) data.set('cf-turnstile-response', token)
  const button = submitter as HTMLInputElement | null | undefined
  if (button?.name && button.type !== 'image' && !data.has(button.name)) {
    data.append(button.name, button.value)
  }
}

/** Ready for the next try: with a new token, as one works once. */
export function release(it: Enhanced) {
  it.busy = false
  it.token = it.submitter = undefined
  proto.removeAttribute.call(it.form, 'aria-busy')
  it.captcha?.then((captcha) => captcha?.reset()).catch(() => {})
}

function fallBack(it: Enhanced) {
  it.native = true
  setTimeout(release, LEFT_WITHIN_MS, it)
  proto.setAttribute.call(it.form, 'method', 'post')
  proto.submit.call(it.form)
}

/** @returns false where the page shows it in its own way */
const tell = ({ form }: Enhanced, type: string, detail: object) =>
  proto.dispatchEvent.call(
    form,
    new CustomEvent(`towpath:${type}`, { detail, bubbles: true, cancelable: true }),
  )

/** @returns whether it was stored */
async function settle(it: Enhanced, answer?: Response): Promise<boolean> {
  const said = await answer?.json().catch(() => undefined)
  const { form, key: formKey, messages } = it
  if (answer?.ok && said?.ok) {
    if (tell(it, 'success', { formKey })) messages.succeed(it.facts.successMessage || SENT)
    proto.reset.call(form)
    return true
  }
  const errors: Record<string, string> = said?.errors ?? {}
  const list: Errors = Object.entries(errors)
  const error: string = said?.error || (list.length > 0 ? '' : FAILED)
  if (tell(it, 'error', { formKey, status: answer?.status ?? 0, error, errors })) messages.fail(list, error)
  return false
}

export async function send(it: Enhanced, url: string, submitter: HTMLElement | null, visit: Visit) {
  const { form, messages } = it
  const abort = new AbortController()
  let answer: Response | undefined
  it.busy = true
  it.submitter = submitter
  try {
    proto.setAttribute.call(form, 'aria-busy', 'true')
    messages.clear()
    messages.prepare()
    // At once: what is typed while we wait is not what was sent.
    const body = new FormData(form, submitter)
    await within(LINKED_WITHIN_MS, visit.told())
    const captcha = captchaOf(it)?.then((opened) => opened?.token())
    it.token = captcha && (await within(TOKEN_WITHIN_MS, captcha))
    complete(body, visit, it)
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
    if (!abort.signal.aborted && !it.native) return fallBack(it)
  }
  // First: what changes inside of something busy is not read out.
  proto.removeAttribute.call(form, 'aria-busy')
  const sent = await settle(it, answer)
  if (sent) setTimeout(release, DOUBLE_CLICK_MS, it)
  else release(it)
}
