// One sentence for people about a failed attempt. It stays with the delivery and the channel after the attempt is pruned.

import type { DeliveryResult } from '../channels/contract.ts'
import { toOneLine, truncateText } from '../channels/safe-text.ts'

const LENGTH_MAX = 300

/** @returns such as `HTTP 503: not now`, or `The connection failed (ECONNREFUSED)` */
export function describeFailure({ outcome, httpStatus, answer, permanent }: DeliveryResult): string {
  const answered = [httpStatus === null ? '' : `HTTP ${httpStatus}`, answer ?? ''].filter(Boolean).join(': ')
  const text = permanent?.what === 'channel' ? permanent.reason : answered
  return truncateText(toOneLine(text) || OUTCOMES[outcome], LENGTH_MAX)
}

const OUTCOMES: Record<DeliveryResult['outcome'], string> = {
  delivered: '',
  refused: 'The message was refused',
  unreachable: 'The address could not be reached',
  timeout: 'There was no answer in time',
}
