// The responses of the endpoint: JSON for scripts, a redirect for native forms, and a page or JSON where there is no
// page to redirect to (docs/contract.md §7).

import { type FastResponse, toHeaderLines } from '../../../http/fast-path/response-text.ts'
import type { PageBrand } from '../../../http/page-brand.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import { getTexts, translateError } from '../rules/languages.ts'
import type { Mistake } from '../rules/mistake.ts'
import type { SenderLanguage } from '../rules/sender-language.ts'
import { CAPTCHA_FIELD } from '../settings/control-fields.ts'
import type { FormSettings } from '../settings/form-settings.ts'
import type { EndpointError } from './endpoint-error.ts'
import type { SubmissionInput } from './fields.ts'
import { captchaPage, fieldErrorsPage } from './mistake-page.ts'
import type { FramedForm } from './pages.ts'
import { endpointErrorPage, formAddressPage, formThanksPage } from './pages.ts'
import { isJson } from './read-body.ts'
import { errorTarget, findWayBack, successTarget, toThanksUrl } from './redirect-target.ts'

/**
 * The result of a submission with a readable body. `trapped`: caught by the honeypot and not stored. `isSpam`: stored
 * as spam. Both look like any other success.
 */
export type SubmissionOutcome =
  | { kind: 'accepted'; trapped?: true; id?: number; isSpam?: boolean }
  | { kind: 'invalid'; errors: Map<string, string>; mistakes: Map<string, Mistake> }
  | { kind: 'captcha'; error: string }

export interface ResponseContext {
  requestId: string
  headers: Pick<Headers, 'get'>
  /** The origin of the domain that the request is for. */
  origin: string
  /** The sender's language. */
  language: SenderLanguage
  /** Another shape of the answers to scripts. */
  shape?: AnswerShape
}

/** `text` is `OK` or the message; `formspree` is Formspree's JSON, for pages that move here. */
export type AnswerShape = 'text' | 'formspree'

/** @param query without its `?` */
export function readAnswerShape(query: string): AnswerShape | undefined {
  const shape = new URLSearchParams(query).get('answer')
  return shape === 'text' || shape === 'formspree' ? shape : undefined
}

const ALLOWED_METHODS = 'POST, OPTIONS'
// The headers that scripts usually send to form endpoints, for a preflight that names none.
const USUAL_HEADERS = 'Content-Type, Accept, X-Requested-With'
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/

/** On every response. Without the first two, a script on another site gets "Failed to fetch" instead of the error. */
const commonHeaders = (requestId: string) => ({
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'X-Request-Id': requestId,
})

export function respondToPreflight({ headers, requestId }: ResponseContext): Response {
  const requested = headers.get('access-control-request-headers')?.trim() ?? ''
  return new Response(null, {
    status: 204,
    headers: {
      ...commonHeaders(requestId),
      'Access-Control-Allow-Methods': ALLOWED_METHODS,
      'Access-Control-Allow-Headers': HEADER_NAMES.test(requested) ? requested : USUAL_HEADERS,
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    },
  })
}

/**
 * Opening the form's address in a browser shows a page that explains the address.
 * @param findPage the page with the form, read only when it is shown
 */
export async function respondToWrongMethod(
  { headers, requestId, language }: ResponseContext,
  findPage: () => Promise<{ page: URL | undefined; brand?: PageBrand }>,
): Promise<EndpointAnswer> {
  const responseHeaders = { ...commonHeaders(requestId), Allow: ALLOWED_METHODS }
  if (!wantsPage(headers)) return json(405, { error: 'Method not allowed' }, responseHeaders)
  const { page, brand } = await findPage()
  return formAddressPage(page, language.builtIn, responseHeaders, brand)
}

/** The form's own thanks page, `/f/{key}/thanks`. Everything on it is the form's setting, or the browser's way here. */
export function respondWithThanks(
  { headers, requestId, origin, language }: ResponseContext,
  { successMessage, pageUrl, brand }: Pick<FormSettings, 'successMessage' | 'pageUrl' | 'brand'>,
  form?: FramedForm,
) {
  const wayBack = findWayBack({ referer: headers.get('referer') ?? '', origin, pageUrl })
  return formThanksPage(
    { successMessage, wayBack, language: language.builtIn, brand, frame: form && { form, headers } },
    commonHeaders(requestId),
  )
}

/**
 * Detects a request of a script. Browsers say so in Sec-Fetch-Mode, but only to https and localhost, and Safari only
 * since 16.4. Without the header, a browser's request with an Origin counts as a script's unless it accepts a page. A
 * request that names JSON in Accept is a script's too, because navigations never do.
 */
function isAjax(headers: Pick<Headers, 'get'>): boolean {
  const mode = headers.get('sec-fetch-mode')?.toLowerCase()
  if (mode === 'cors' || mode === 'same-origin' || isJson(headers.get('content-type'))) return true
  const requestedWith = headers.get('x-requested-with')?.trim() ?? ''
  if (/^(?:xmlhttprequest|fetch)$/i.test(requestedWith)) return true
  const accept = headers.get('accept') ?? ''
  if (/\btext\/html\b/i.test(accept)) return false
  if (/\bapplication\/json\b/i.test(accept)) return true
  // Android's WebView puts the name of its app into X-Requested-With of a navigation.
  if (mode === 'navigate' || accept === '') return false
  return requestedWith !== '' || (headers.get('origin') !== null && isBrowser(headers))
}

const isBrowser = (headers: Pick<Headers, 'get'>) =>
  /^(?:Mozilla|Opera)\//.test(headers.get('user-agent') ?? '')

const wantsPage = (headers: Pick<Headers, 'get'>) =>
  !isAjax(headers) && /\btext\/html\b/i.test(headers.get('accept') ?? '')

/** An answer in text, or a page. */
export type EndpointAnswer = TextAnswer | Response

interface TextAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

export const toEndpointResponse = (answer: EndpointAnswer): Response =>
  answer instanceof Response ? answer : new Response(answer.body || null, answer)

export async function toFastEndpointResponse(answer: EndpointAnswer): Promise<FastResponse> {
  const { status } = answer
  if (!(answer instanceof Response)) return { ...answer, headers: toHeaderLines(answer.headers) }
  return { status, headers: toHeaderLines(Object.fromEntries(answer.headers)), body: await answer.text() }
}

const json = (status: number, body: object, headers: Record<string, string>): TextAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: orderedJson(body),
})

const seeOther = (location: string, headers: Record<string, string>): TextAnswer => ({
  status: 303,
  headers: { ...headers, Location: location },
  body: '',
})

/** @param findForm asked for only where the answer depends on the form */
export function respondToSubmission(
  context: ResponseContext,
  findForm: () => FormSettings,
  input: Pick<SubmissionInput, 'next' | 'fields' | 'language'>,
  outcome: SubmissionOutcome,
): EndpointAnswer | Promise<EndpointAnswer> {
  const headers = commonHeaders(context.requestId)
  const ajax = isAjax(context.headers)
  const isShaped = context.shape !== undefined && !wantsPage(context.headers)
  if (ajax && outcome.kind === 'accepted' && !isShaped) return json(200, { ok: true }, headers)
  const form = findForm()
  const target = {
    referer: context.headers.get('referer') ?? '',
    origin: context.origin,
    pageUrl: form.pageUrl,
  }
  if (isShaped) {
    const next = () => successTarget({ ...target, ...form, next: input.next })
    return context.shape === 'text'
      ? toTextOutcome(outcome, headers)
      : toFormspreeOutcome(outcome, next, headers)
  }
  if (outcome.kind === 'accepted') {
    const named = input.language === undefined ? undefined : (context.language.known ?? undefined)
    return respondWithSuccess(context, form, { ...target, ...form, next: input.next, language: named })
  }
  const errors = outcome.kind === 'invalid' ? outcome.errors : new Map([[CAPTCHA_FIELD, outcome.error]])
  const back = ajax || form.onError === 'hosted' ? undefined : errorTarget(target, errors)
  if (back !== undefined) return seeOther(back, headers)
  if (wantsPage(context.headers)) {
    const { builtIn: language } = context.language
    const { fields } = input
    const page = { form, headers: context.headers, wayBack: findWayBack(target), fields, language }
    return outcome.kind === 'invalid'
      ? fieldErrorsPage(page, errors, headers)
      : captchaPage(page, outcome.error, headers)
  }
  if (outcome.kind === 'captcha') return json(422, { ok: false, error: outcome.error }, headers)
  return json(422, { ok: false, errors }, headers)
}

const plainText = (status: number, body: string, headers: Record<string, string>): TextAnswer => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers },
  body,
})

/** Always 200: scripts that compare the text with `OK` show the text of no other status. */
function toTextOutcome(outcome: SubmissionOutcome, headers: Record<string, string>): TextAnswer {
  if (outcome.kind === 'accepted') return plainText(200, 'OK', headers)
  if (outcome.kind === 'captcha') return plainText(200, outcome.error, headers)
  const lines = Array.from(outcome.errors, ([field, message]) => `${field}: ${message}`)
  return plainText(200, lines.join('\n'), headers)
}

/** The codes of https://github.com/formspree/formspree-js (`FieldErrorCode`). */
function toFormspreeCode(mistake: Mistake | undefined): string {
  if (mistake?.rule === 'required' || mistake?.rule === 'consent') return 'REQUIRED_FIELD_MISSING'
  if (mistake?.rule !== 'type') return 'TYPE_TEXT'
  return { email: 'TYPE_EMAIL', number: 'TYPE_NUMERIC' }[mistake.type as string] ?? 'TYPE_TEXT'
}

function toFormspreeOutcome(
  outcome: SubmissionOutcome,
  findNext: () => string,
  headers: Record<string, string>,
): TextAnswer {
  if (outcome.kind === 'accepted') return json(200, { next: findNext(), ok: true }, headers)
  const errors =
    outcome.kind === 'captcha'
      ? [{ field: CAPTCHA_FIELD, code: 'TYPE_TEXT', message: outcome.error }]
      : Array.from(outcome.errors, ([field, message]) => {
          return { field, code: toFormspreeCode(outcome.mistakes.get(field)), message }
        })
  return json(422, { error: 'Validation errors', errors }, headers)
}

/**
 * The form's own thanks page links back to the page that the browser names. A `Referrer-Policy` on the way there would
 * replace the policy of the form's page (https://www.w3.org/TR/referrer-policy/#set-requests-referrer-policy-on-redirect).
 */
function respondWithSuccess(
  { requestId, origin }: ResponseContext,
  { formKey }: FormSettings,
  target: Parameters<typeof successTarget>[0],
) {
  const location = successTarget(target)
  const { 'Referrer-Policy': policy, ...others } = commonHeaders(requestId)
  const isOwnPage = location.replace(/\?.*/, '') === toThanksUrl(origin, formKey)
  return seeOther(location, isOwnPage ? others : { ...others, 'Referrer-Policy': policy })
}

export function respondToError(
  context: ResponseContext,
  { status, message, retryAfter }: EndpointError,
  form?: FramedForm,
): EndpointAnswer | Promise<EndpointAnswer> {
  const headers: Record<string, string> = commonHeaders(context.requestId)
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter)
  const { builtIn: language } = context.language
  if (wantsPage(context.headers))
    return endpointErrorPage(
      { status, error: message, language, frame: form && { form, headers: context.headers } },
      headers,
    )
  const error = translateError(message, getTexts(language))
  if (context.shape === 'text') return plainText(status, error, headers)
  return json(status, context.shape ? { error, errors: [{ message: error }] } : { error }, headers)
}
