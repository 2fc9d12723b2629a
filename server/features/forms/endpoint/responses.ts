// The responses of the endpoint: JSON for scripts, a redirect for native forms, and a page or JSON where there is no
// page to redirect to (docs/contract.md §7).

import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import { CAPTCHA_FIELD } from '../settings/control-fields.ts'
import type { EndpointError } from './endpoint-error.ts'
import { captchaPage, endpointErrorPage, fieldErrorsPage } from './pages.ts'
import { isJson } from './read-body.ts'
import { errorTarget, successTarget } from './redirect-target.ts'

/** The result of a submission whose body could be read. `trapped`: the honeypot caught it, and nothing is stored. */
export type SubmissionOutcome =
  | {
      kind: 'accepted'
      next: string | undefined
      redirectUrl: string | null
      nextHosts: string[]
      trapped?: true
    }
  | { kind: 'invalid'; errors: Map<string, string> }
  | { kind: 'captcha'; error: string }

export interface ResponseContext {
  requestId: string
  headers: Headers
  /** The server's own origin. */
  origin: string
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

/** A person who opens the form's address in a browser gets a page that says what the address is for. */
export function respondToWrongMethod({ headers, requestId }: ResponseContext) {
  const responseHeaders = { ...commonHeaders(requestId), Allow: ALLOWED_METHODS }
  return wantsPage(headers)
    ? endpointErrorPage(405, 'Method not allowed', responseHeaders)
    : json(405, { error: 'Method not allowed' }, responseHeaders)
}

/**
 * A script sent the request. Browsers say so in Sec-Fetch-Mode, but only to https and localhost, and Safari only since
 * 16.4. A request that names JSON in Accept is a script too: a navigation never does.
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
  context: ResponseContext,
  outcome: SubmissionOutcome,
): Response | Promise<Response> {
  const headers = commonHeaders(context.requestId)
  const ajax = isAjax(context.headers)
  const target = { referer: context.headers.get('referer') ?? '', origin: context.origin }
  if (outcome.kind === 'accepted') {
    return ajax
      ? json(200, { ok: true }, headers)
      : seeOther(successTarget({ ...target, ...outcome }), headers)
  }
  const errors = outcome.kind === 'invalid' ? outcome.errors : new Map([[CAPTCHA_FIELD, outcome.error]])
  const back = ajax ? undefined : errorTarget(target, errors)
  if (back !== undefined) return seeOther(back, headers)
  if (wantsPage(context.headers)) {
    return outcome.kind === 'invalid' ? fieldErrorsPage(errors, headers) : captchaPage(outcome.error, headers)
  }
  const { kind, ...details } = outcome
  return json(422, { ok: false, ...details }, headers)
}

export function respondToError(context: ResponseContext, { status, message, retryAfter }: EndpointError) {
  const headers: Record<string, string> = commonHeaders(context.requestId)
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter)
  return wantsPage(context.headers)
    ? endpointErrorPage(status, message, headers)
    : json(status, { error: message }, headers)
}
