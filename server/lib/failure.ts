// The closed list of failures of a request. Functions throw them, and only http/error-response.ts knows their status.

export type FailureCode =
  | 'invalid_json'
  | 'not_an_object'
  | 'missing_key'
  | 'invalid_key'
  | 'signed_out'
  | 'plan_too_low'
  | 'forbidden'
  | 'confirmation_required'
  | 'second_factor_required'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'changed_since'
  | 'too_large'
  | 'not_json'
  | 'invalid'
  | 'too_many'
  | 'unavailable'

export interface FailureDetail {
  /** Messages by field, for 422 (and bulk 409). */
  errors?: Record<string, string>
  /** Whole seconds, for 429 and 503. */
  retryAfter?: number
  /** The methods of the path, for 405. */
  allow?: string
  cause?: unknown
}

/** Failures that programs distinguish by the member `code` of the answer, because they share a status. */
export const NAMED_FAILURES = [
  'confirmation_required',
  'second_factor_required',
] as const satisfies FailureCode[]

/** A failure that the caller can act on. The caller gets `message` as it is. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly detail: FailureDetail

  constructor(code: FailureCode, message: string, detail: FailureDetail = {}) {
    super(message, { cause: detail.cause })
    this.name = 'Failure'
    this.code = code
    this.detail = detail
  }
}

/** `<Noun> not found`, for a thing that does not exist and for one of another workspace (docs/contract.md §1). */
export const notFound = (noun: string) =>
  new Failure('not_found', noun === '' ? 'Not found' : `${noun} not found`)

/** A 422 for one or more fields. The message repeats the first error, so that it is clear without the others. */
export function invalid(errors: Record<string, string>): Failure {
  const [field, message] = Object.entries(errors)[0] ?? ['request', 'is not valid']
  return new Failure('invalid', `${field}: ${message}`, { errors })
}

export const unavailable = (cause: unknown, retryAfter = 5) =>
  new Failure('unavailable', 'Temporarily unavailable', { retryAfter, cause })
