// The next state of a destination after a check. Owners are notified after three failed checks over at least a day.

import { DAY_MS } from '../../lib/utc-day.ts'
import type { DestinationCheck } from './check-destination.ts'
import { DESTINATION_STATES } from './destination-states.ts'
import type { DestinationState } from './schema.ts'

export interface CheckedState {
  state: DestinationState
  since: number | null
  failures: number
  reportedAt: number | null
}

export const FAILURES_TO_TELL = 3
export const TELL_AFTER_MS = DAY_MS
/** A failure is confirmed over a day. */
const RETRY_MS = 8 * 60 * 60 * 1000

const PROBLEMS: DestinationState[] = ['broken', 'parked', 'failing']

export const isConfirmed = ({ failures, since }: Pick<CheckedState, 'failures' | 'since'>, at: number) =>
  failures >= FAILURES_TO_TELL && since !== null && at - since >= TELL_AFTER_MS

export function judgeCheck(
  before: CheckedState,
  { kind, status, message }: DestinationCheck,
  at: number,
): CheckedState & { status: number | null; message: string | null; nextCheckAt: number } {
  if (kind === 'ok' || kind === 'not_allowed') {
    const since = before.state === kind ? before.since : at
    // Owners are notified again only after it has worked in between. A ban does not show that.
    const reportedAt = kind === 'ok' ? null : before.reportedAt
    return { state: kind, since, failures: 0, reportedAt, status, message, nextCheckAt: at + DAY_MS }
  }
  const wasProblem = PROBLEMS.includes(before.state)
  const since = wasProblem ? before.since : at
  const failures = wasProblem ? before.failures + 1 : 1
  const confirmed = isConfirmed({ failures, since }, at)
  const state = kind === 'parked' ? 'parked' : confirmed ? 'broken' : 'failing'
  const nextCheckAt = at + (confirmed ? DAY_MS : RETRY_MS)
  return { state, since, failures, reportedAt: before.reportedAt, status, message, nextCheckAt }
}

export const toStoredState = (state: DestinationState) => DESTINATION_STATES.indexOf(state)
export const readStoredState = (stored: number): DestinationState => DESTINATION_STATES[stored] ?? 'unchecked'
