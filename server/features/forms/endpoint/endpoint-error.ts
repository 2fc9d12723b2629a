// The error that ends a form request before its fields are read: a status and a message (docs/contract.md §7).

import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { toFailure } from '../../../storage/database/errors.ts'

export class EndpointError extends Error {
  readonly status: number
  /** The `Retry-After` header, in whole seconds. */
  readonly retryAfter: number | undefined

  constructor(status: number, message: string, retryAfter?: number) {
    super(message)
    this.name = 'EndpointError'
    this.status = status
    this.retryAfter = retryAfter
  }
}

export const tooManySubmissions = (waitMs: number) =>
  new EndpointError(
    429,
    'Too many submissions. Please try again later.',
    Math.max(1, Math.ceil(waitMs / 1000)),
  )

export const tooLarge = () => new EndpointError(413, 'Submission too large')

/** Any other error is the server's own: 503 where the database is unavailable, else a 500 that shows no detail. */
export function toEndpointError(error: unknown, requestId: string): EndpointError {
  if (error instanceof EndpointError) return error
  const failure = toFailure(error)
  if (failure instanceof Failure && failure.code === 'unavailable') {
    log.error('store_unavailable', { requestId, ...describeError(failure.detail.cause) })
    return new EndpointError(503, failure.message, failure.detail.retryAfter ?? 5)
  }
  log.error('form_failed', { requestId, ...describeError(error) })
  return new EndpointError(500, 'Internal server error')
}
