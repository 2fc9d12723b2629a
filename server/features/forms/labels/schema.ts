// The shape of field labels: the names that people read in place of the page's field names.

import { z } from '@hono/zod-openapi'
import { text } from '../../../lib/api-fields.ts'
import { checkKeys } from '../rules/schema.ts'

export const LABEL_MAX = 200
/** A submission has at most as many fields. */
const LABELS_MAX = 256

const label = text(1, LABEL_MAX)
  .refine((value) => value.trim() !== '', 'must not be blank')
  .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), 'must be one line')

/** @param fieldName of a field that is stored */
export const toFieldLabelsInput = (fieldName: z.ZodType) =>
  z
    .record(z.string(), label, { error: 'must be an object of labels by field' })
    .refine((labels) => Object.keys(labels).length <= LABELS_MAX, `must be at most ${LABELS_MAX} fields`)
    .superRefine(checkKeys(fieldName))
    .openapi('FieldLabels', { example: { first_name: 'First name' } })
export const FieldLabelsShape = z.record(z.string(), z.string())
