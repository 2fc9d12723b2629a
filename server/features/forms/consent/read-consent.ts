// Reads the sender's consent from the consent field of the form (docs/contract.md §13).

import type { Mistake } from '../rules/mistake.ts'
import type { ConsentSettings } from './schema.ts'

export interface ConsentForm {
  consent: ConsentSettings | null
  requiredFields: string[]
}

interface SentFields {
  fields: Map<string, string>
  repeated: Map<string, string[]>
}

/** Values that scripts and hidden inputs send for a box that is not ticked. */
const NOT_TICKED = ['', 'false', 'off', 'no', '0']

const isTicked = (value: string) => !NOT_TICKED.includes(value.trim().toLowerCase())

/** True also where a hidden input sends `0` in front of the box. */
const hasConsented = ({ field }: ConsentSettings, { fields, repeated }: SentFields): boolean =>
  (repeated.get(field) ?? [fields.get(field) ?? '']).some(isTicked)

/**
 * The text is the form's current one, because the sender's version proves nothing. A later change of the form changes
 * no stored consent.
 */
export const readConsent = (consent: ConsentSettings | null, sent: SentFields): ConsentSettings | null =>
  consent && hasConsented(consent, sent) ? { field: consent.field, text: consent.text } : null

/** A required box may be sent as `false`, which is no consent. Where it is not sent at all, it is a missing field. */
export function requireConsent(
  mistakes: Map<string, Mistake>,
  { consent, requiredFields }: ConsentForm,
  sent: SentFields,
): void {
  if (!consent || !requiredFields.includes(consent.field) || mistakes.has(consent.field)) return
  if (!hasConsented(consent, sent)) mistakes.set(consent.field, { rule: 'consent' })
}
