// The shapes of a form's rules for its fields, and of its own texts for mistakes (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { oneOf, text, wholeNumber } from '../../../lib/api-fields.ts'

export const FIELD_TYPES = ['email', 'url', 'tel', 'number', 'date'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

const VALUE_MAX = 65_536
const FIELDS_MAX = 100
const CHOICES_MAX = 500

const FieldRule = z.strictObject({
  type: oneOf(FIELD_TYPES).optional(),
  minLength: wholeNumber(0, VALUE_MAX).optional(),
  maxLength: wholeNumber(0, VALUE_MAX).optional(),
  pattern: text(1, 500).optional().openapi({ description: 'The whole value must match; the syntax of RE2' }),
  oneOf: z
    .array(text(0, 1000), { error: 'must be a list of texts' })
    .min(1, 'must have at least one text')
    .max(CHOICES_MAX, `must be at most ${CHOICES_MAX} texts`)
    .optional(),
})

export const FieldRulesInput = z
  .record(text(1, 256), FieldRule)
  .refine((rules) => Object.keys(rules).length <= FIELDS_MAX, `must be at most ${FIELDS_MAX} fields`)
  .openapi('FieldRules')
export const FieldRulesShape = z.record(z.string(), FieldRule)
export type FieldRules = z.infer<typeof FieldRulesShape>

/** By locale, then by rule (`required`) or by field and rule (`phone.pattern`). */
export const FieldMessagesInput = z
  .record(text(1, 35), z.record(text(1, 300), text(1, 500)))
  .openapi('FieldMessages')
export type FieldMessages = z.infer<typeof FieldMessagesInput>
