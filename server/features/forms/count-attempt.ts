// What the end of a request says about the attempt to send a form.

import type { Outcome } from './answers.ts'
import type { AttemptOutcome, Attempts } from './attempts.ts'
import type { FormSettings } from './form-settings.ts'
import type { Refusal } from './refusal.ts'

type Counts = Pick<Attempts, 'count'>

export function countOutcome(
  attempts: Counts,
  { id, requiredFields }: Pick<FormSettings, 'id' | 'requiredFields'>,
  outcome: Outcome,
): void {
  attempts.count(id, endOf(outcome))
  if (outcome.kind !== 'invalid') return
  // A name that only the sender knows may say anything, and there is no end of them.
  const ours = new Set(['email', ...requiredFields])
  for (const field of outcome.errors.keys()) if (ours.has(field)) attempts.count(id, 'validation', field)
}

function endOf(outcome: Outcome): AttemptOutcome {
  if (outcome.kind === 'taken') return outcome.trapped ? 'honeypot' : 'stored'
  return outcome.kind === 'invalid' ? 'validation' : 'captcha'
}

const REFUSALS: Record<number, AttemptOutcome> = {
  400: 'unreadable',
  403: 'origin',
  413: 'tooLarge',
  415: 'unreadable',
  429: 'rateLimited',
}

/** Of a form that is there and enabled; what was our own fault is no loss of the form's. */
export function countRefusal(attempts: Counts, formId: number, { status }: Pick<Refusal, 'status'>): void {
  const outcome = REFUSALS[status]
  if (outcome) attempts.count(formId, outcome)
}
