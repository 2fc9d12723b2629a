// Counts an attempt to send a form, by the end of its request.

import type { EndpointError } from '../endpoint/endpoint-error.ts'
import type { SubmissionOutcome } from '../endpoint/responses.ts'
import type { FormSettings } from '../settings/form-settings.ts'
import type { AttemptCounter, AttemptOutcome } from './attempt-counter.ts'

type Counts = Pick<AttemptCounter, 'count'>

export function countAttempt(
  attempts: Counts,
  { id, requiredFields, rules }: Pick<FormSettings, 'id' | 'requiredFields' | 'rules'>,
  outcome: SubmissionOutcome,
): void {
  attempts.count(id, toAttemptOutcome(outcome))
  if (outcome.kind !== 'invalid') return
  // Only names that the owner chose: a sender can make up any text, and any number of names.
  const ownersFields = new Set(['email', ...requiredFields, ...Object.keys(rules)])
  for (const field of outcome.errors.keys())
    if (ownersFields.has(field)) attempts.count(id, 'validation', field)
}

function toAttemptOutcome(outcome: SubmissionOutcome): AttemptOutcome {
  if (outcome.kind === 'accepted') {
    if (outcome.trapped) return 'honeypot'
    return outcome.isSpam ? 'spam' : 'stored'
  }
  return outcome.kind === 'invalid' ? 'validation' : 'captcha'
}

const OUTCOME_BY_STATUS: Record<number, AttemptOutcome> = {
  400: 'unreadable',
  403: 'origin',
  413: 'tooLarge',
  415: 'unreadable',
  429: 'rateLimited',
}

/** Counts a refused request to an enabled form. A server error (5xx) is not counted: the form did not cause it. */
export function countRefusedAttempt(
  attempts: Counts,
  formId: number,
  { status }: Pick<EndpointError, 'status'>,
): void {
  const outcome = OUTCOME_BY_STATUS[status]
  if (outcome) attempts.count(formId, outcome)
}
