// The shapes of a form's rules for its fields, and of its custom messages (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { flag, oneOf, text, wholeNumber } from '../../../lib/api-fields.ts'
import { MESSAGE_KEYS, type MessageKey } from './languages.ts'
import { normalizeLocale } from './sender-language.ts'

export const FIELD_TYPES = ['email', 'url', 'tel', 'number', 'date'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

const VALUE_MAX = 65_536
const FIELDS_MAX = 100
const CHOICES_MAX = 500

const MESSAGES_MAX = 500
const LOCALES_MAX = 30

const RuleShape = z.strictObject({
  type: oneOf(FIELD_TYPES).optional(),
  multiple: flag().optional().openapi({
    description: 'With the type `email`: several addresses, with commas between them',
  }),
  minLength: wholeNumber(0, VALUE_MAX).optional().openapi({ description: 'In characters' }),
  maxLength: wholeNumber(0, VALUE_MAX).optional().openapi({ description: 'In characters' }),
  pattern: text(1, 500)
    .optional()
    .openapi({ description: 'The whole value must match; the syntax of RE2', example: '[0-9 +()-]{6,20}' }),
  oneOf: z
    .array(text(0, 1000), { error: 'must be a list of texts' })
    .min(1, 'must have at least one text')
    .max(CHOICES_MAX, `must be at most ${CHOICES_MAX} texts`)
    .refine((choices) => new Set(choices).size === choices.length, 'must name each text once')
    .optional(),
})
export type FieldRule = z.infer<typeof RuleShape>

const RuleInput = RuleShape.refine(({ minLength = 0, maxLength = VALUE_MAX }) => minLength <= maxLength, {
  path: ['minLength'],
  message: 'must be at most maxLength',
}).refine(({ type, multiple }) => !multiple || type === 'email', {
  path: ['multiple'],
  message: 'is only for the type email',
})

/** zod itself says of a wrong key only that it is wrong. */
export const checkKeys = (key: z.ZodType) => (value: object, context: z.RefinementCtx) => {
  for (const name of Object.keys(value)) {
    const message = key.safeParse(name).error?.issues[0]?.message
    if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message })
  }
}

/** @param fieldName of a field that is stored */
export const toFieldRulesInput = (fieldName: z.ZodType) =>
  z
    .record(z.string(), RuleInput, { error: 'must be an object of rules by field' })
    .refine((rules) => Object.keys(rules).length <= FIELDS_MAX, `must be at most ${FIELDS_MAX} fields`)
    .superRefine(checkKeys(fieldName))
    .openapi('FieldRules', { example: { phone: { type: 'tel', maxLength: 30 } } })
export const FieldRulesShape = z.record(z.string(), RuleShape)
export type FieldRules = z.infer<typeof FieldRulesShape>

const locale = text(1, 35).refine(
  (value) => normalizeLocale(value) === value,
  'must be a language such as de or de-CH',
)

/** `required`, or `phone.required` for one field. A name of a field may have dots. */
const isMessageName = (name: string) =>
  MESSAGE_KEYS.includes(name.slice(name.lastIndexOf('.') + 1) as MessageKey) && !name.startsWith('.')

const messageName = text(1, 300).refine(
  isMessageName,
  `must be a rule, or a field and a rule (phone.pattern). Rules: ${MESSAGE_KEYS.join(', ')}`,
)

const localeMessages = z
  .record(
    z.string(),
    text(1, 500).refine((value) => value.trim() !== '', 'must not be blank'),
    {
      error: 'must be an object of texts by rule',
    },
  )
  .superRefine(checkKeys(messageName))
  .refine((texts) => Object.keys(texts).length <= MESSAGES_MAX, `must be at most ${MESSAGES_MAX} texts`)

/** By locale, then by rule (`required`) or by field and rule (`phone.pattern`). */
export const FieldMessagesInput = z
  .record(z.string(), localeMessages, { error: 'must be an object of texts by language' })
  .refine((locales) => Object.keys(locales).length <= LOCALES_MAX, `must be at most ${LOCALES_MAX} languages`)
  .superRefine(checkKeys(locale))
  .openapi('FieldMessages', { example: { de: { 'phone.pattern': 'Bitte mit Vorwahl' } } })
export const FieldMessagesShape = z.record(z.string(), z.record(z.string(), z.string()))
export type FieldMessages = z.infer<typeof FieldMessagesShape>
