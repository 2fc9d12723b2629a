// A request that ends before its fields are looked at: a status and the sentence that goes with it (contract §7).

import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import { asFailure } from '../../storage/rows/errors.ts'

export class Refusal extends Error {
  readonly status: number
  /** Whole seconds. */
  readonly retryAfter: number | undefined

  constructor(status: number, message: string, retryAfter?: number) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.retryAfter = retryAfter
  }
}

export const tooLarge = () => new Refusal(413, 'Submission too large')

/** Whatever else went wrong is ours: a store that is away, or a fault that shows nothing of itself. */
export function asRefusal(error: unknown, requestId: string): Refusal {
  if (error instanceof Refusal) return error
  const failure = asFailure(error)
  if (failure instanceof Failure && failure.code === 'unavailable') {
    log.error('store_unavailable', { requestId, ...describeError(failure.detail.cause) })
    return new Refusal(503, failure.message, failure.detail.retryAfter ?? 5)
  }
  log.error('form_failed', { requestId, ...describeError(error) })
  return new Refusal(500, 'Internal server error')
}
