// Turns failures into responses: one table from failure code to status (docs/contract.md §1).

import { Failure, type FailureCode, NAMED_FAILURES } from '../lib/failure.ts'
import { describeError, log } from '../lib/log.ts'

const STATUS: Record<FailureCode, number> = {
  invalid_json: 400,
  not_an_object: 400,
  missing_key: 401,
  invalid_key: 401,
  signed_out: 401,
  plan_too_low: 403,
  forbidden: 403,
  confirmation_required: 403,
  second_factor_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  changed_since: 412,
  too_large: 413,
  not_json: 415,
  invalid: 422,
  too_many: 429,
  unavailable: 503,
}

/** An unexpected error is a 500 without details. The log has the details under the request's id. */
export function toErrorResponse(error: unknown, requestId: string): Response {
  if (!(error instanceof Failure)) {
    log.error('request_failed', { requestId, ...describeError(error) })
    return Response.json({ error: 'Internal server error' }, { status: 500 })
  }
  const { errors, retryAfter, allow, cause } = error.detail
  if (error.code === 'unavailable') log.error('store_unavailable', { requestId, ...describeError(cause) })
  const headers = new Headers()
  if (error.code === 'missing_key' || error.code === 'invalid_key') headers.set('WWW-Authenticate', 'Bearer')
  if (retryAfter !== undefined) headers.set('Retry-After', String(retryAfter))
  if (allow !== undefined) headers.set('Allow', allow)
  const code = NAMED_FAILURES.find((name) => name === error.code)
  return Response.json(
    { error: error.message, ...(code && { code }), ...(errors && { errors }) },
    {
      status: STATUS[error.code],
      headers,
    },
  )
}
