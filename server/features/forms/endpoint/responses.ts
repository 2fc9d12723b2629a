// How the endpoint answers: JSON to scripts, a redirect to forms, and a page or JSON where there is nowhere to go.

import { orderedJson } from '../../../lib/ordered-json.ts'
import type { EndpointError } from './endpoint-error.ts'
import { CAPTCHA_FIELD } from './fields.ts'
import { captchaPage, endpointErrorPage, fieldErrorsPage } from './pages.ts'
import { isJson } from './read-body.ts'
import { errorTarget, successTarget } from './redirect-target.ts'

/** What a submission came to, when its request was read. */
export type SubmissionOutcome =
  | { kind: 'taken'; next: string | undefined; redirectUrl: string | null; trapped?: true }
  | { kind: 'invalid'; errors: Map<string, string> }
  | { kind: 'captcha'; error: string }

export interface ResponseContext {
  requestId: string
  headers: Headers
  /** Our own origin. */
  origin: string
}

const ALLOWED_METHODS = 'POST, OPTIONS'
// What scripts send to endpoints like this one, for a caller that does not say.
const USUAL_HEADERS = 'Content-Type, Accept, X-Requested-With'
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/

/** On every answer: without the first two a script on another site sees "Failed to fetch" instead of what is wrong. */
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
  const wanted = headers.get('access-control-request-headers')?.trim() ?? ''
  return new Response(null, {
    status: 204,
    headers: {
      ...commonHeaders(requestId),
      'Access-Control-Allow-Methods': ALLOWED_METHODS,
      'Access-Control-Allow-Headers': HEADER_NAMES.test(wanted) ? wanted : USUAL_HEADERS,
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    },
  })
}

export const respondToWrongMethod = ({ requestId }: ResponseContext) =>
  json(405, { error: 'Method not allowed' }, { ...commonHeaders(requestId), Allow: ALLOWED_METHODS })

/**
 * A script asks. Browsers say so in Sec-Fetch-Mode, but only to https and localhost, and Safari only since 16.4: so
 * does who names JSON in Accept, which a navigation never does.
 */
function isAjax(headers: Headers): boolean {
  const mode = headers.get('sec-fetch-mode')?.toLowerCase()
  if (mode === 'cors' || mode === 'same-origin' || isJson(headers.get('content-type'))) return true
  const accept = headers.get('accept') ?? ''
  return /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
}

const wantsPage = (headers: Headers) =>
  !isAjax(headers) && /\btext\/html\b/i.test(headers.get('accept') ?? '')

const json = (status: number, body: object, headers: Record<string, string>) =>
  new Response(orderedJson(body), { status, headers: { 'Content-Type': 'application/json', ...headers } })

const seeOther = (location: string, headers: Record<string, string>) =>
  new Response(null, { status: 303, headers: { ...headers, Location: location } })

export function respondToSubmission(
  asked: ResponseContext,
  outcome: SubmissionOutcome,
): Response | Promise<Response> {
  const headers = commonHeaders(asked.requestId)
  const ajax = isAjax(asked.headers)
  const place = { referer: asked.headers.get('referer') ?? '', origin: asked.origin }
  if (outcome.kind === 'taken') {
    return ajax
      ? json(200, { ok: true }, headers)
      : seeOther(successTarget({ ...place, ...outcome }), headers)
  }
  const errors = outcome.kind === 'invalid' ? outcome.errors : new Map([[CAPTCHA_FIELD, outcome.error]])
  const back = ajax ? undefined : errorTarget(place, errors)
  if (back !== undefined) return seeOther(back, headers)
  if (wantsPage(asked.headers)) {
    return outcome.kind === 'invalid' ? fieldErrorsPage(errors, headers) : captchaPage(outcome.error, headers)
  }
  const { kind, ...said } = outcome
  return json(422, { ok: false, ...said }, headers)
}

export function respondToError(asked: ResponseContext, { status, message, retryAfter }: EndpointError) {
  const headers: Record<string, string> = commonHeaders(asked.requestId)
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter)
  return wantsPage(asked.headers)
    ? endpointErrorPage(status, message, headers)
    : json(status, { error: message }, headers)
}
