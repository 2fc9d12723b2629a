// A split of a link's visitors between variants of its destination, as JSON.

import { z } from '@hono/zod-openapi'
import { text, wholeNumber } from '../../../lib/api-fields.ts'
import { foldCase } from '../../../lib/text.ts'
import { URL_MAX } from '../../../lib/web-url.ts'

const VARIANTS_MIN = 2
const VARIANTS_MAX = 8
/** Click ids carry the label: see click-id.ts. */
const LABEL_MAX = 40
const WEIGHTS = 100

const VariantInput = z.strictObject(
  {
    url: text(1, URL_MAX).openapi({ format: 'uri', example: 'https://example.com/b' }),
    weight: wholeNumber(1, WEIGHTS - 1).openapi({ example: 50 }),
    label: text(1, LABEL_MAX)
      .trim()
      .refine((label) => label !== '', 'must not be blank')
      .openapi({ example: 'B' }),
  },
  {
    error: ({ code }) => (code === 'invalid_type' ? 'must be an object of url, weight and label' : undefined),
  },
)

export const SplitInput = z
  .array(VariantInput, { error: 'must be a list of variants' })
  .min(VARIANTS_MIN, `must be at least ${VARIANTS_MIN} variants`)
  .max(VARIANTS_MAX, `must be at most ${VARIANTS_MAX} variants`)
  .superRefine((variants, context) => {
    const sum = variants.reduce((total, { weight }) => total + weight, 0)
    if (sum !== WEIGHTS)
      context.addIssue({ code: 'custom', message: `weights must add up to ${WEIGHTS}, and are ${sum}` })
    const labels = variants.map(({ label }) => foldCase(label))
    labels.forEach((label, index) => {
      if (labels.indexOf(label) < index)
        context.addIssue({ code: 'custom', path: [index, 'label'], message: 'must differ from the others' })
    })
  })

export const VariantShape = z
  .strictObject({ url: z.string(), weight: z.int(), label: z.string() })
  .openapi('Variant')

export const VariantFiguresShape = z
  .strictObject({
    label: z.string(),
    url: z.string(),
    weight: z.int(),
    clicks: z.int().openapi({ description: 'Clicks of people since the split has begun' }),
    leads: z.int().openapi({ description: 'Leads whose last touch is such a click' }),
    rate: z.number().nullable().openapi({ description: 'Leads per click; null without a click' }),
    low: z.number().nullable().openapi({ description: 'Lower end of the 95 % interval of the rate' }),
    high: z.number().nullable().openapi({ description: 'Upper end of the 95 % interval of the rate' }),
  })
  .openapi('VariantFigures')

export const SplitResultShape = z
  .strictObject({
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime(),
    variants: z.array(VariantFiguresShape),
    best: z.string().nullable().openapi({
      description: 'The variant that is better than each other one; null where the difference may be chance',
    }),
    chosen: z.string().openapi({ description: 'The variant that is the destination now' }),
  })
  .openapi('SplitResult')

export type Variant = z.infer<typeof VariantShape>
export type VariantFigures = z.infer<typeof VariantFiguresShape>
export type SplitResult = z.infer<typeof SplitResultShape>
