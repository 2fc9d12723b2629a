// The shapes of outcomes in the API: what became of a lead, and what it was worth.

import { z } from '@hono/zod-openapi'
import {
  dateRangeEnd,
  instant,
  numberParameter,
  oneOf,
  PAGE_PARAMETERS,
  parameter,
  readAs,
  requireFormat,
  requireStartBeforeEnd,
  text,
  wholeNumber,
} from '../../lib/api-fields.ts'
import { EMAIL_MAX, toEmailAddress } from '../../lib/email.ts'
import { AMOUNT_PATTERN } from '../../lib/money/amount.ts'
import { CURRENCY_MESSAGE, isCurrency } from '../../lib/money/currencies.ts'
import { OUTCOME_STAGES } from '../../lib/outcome-stage.ts'

export const OUTCOMES_MAX = 100
const CLICK_ID_MAX = 100
export const EXTERNAL_ID_MAX = 255
/** No customer has more deals. The limit stops programs that forget their `externalId`. */
export const PER_LEAD_MAX = 100
const ID_MAX = 999_999_999_999_999

export const OutcomeShape = z
  .strictObject({
    id: z.int(),
    submissionId: z.int().openapi({ description: 'The lead' }),
    formKey: z.string(),
    linkId: z.int().nullable().openapi({ description: "The lead's link" }),
    stage: z.enum(OUTCOME_STAGES),
    value: z.string().nullable().openapi({ description: 'Decimal text, exact', example: '1299.00' }),
    currency: z.string().nullable().openapi({ description: 'ISO 4217', example: 'EUR' }),
    at: z.iso.datetime(),
    externalId: z.string().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('Outcome')
export type OutcomeResource = z.infer<typeof OutcomeShape>

const AMOUNT_MESSAGE =
  'must be decimal text such as "1299.00": at most 15 digits and 6 behind the point, no sign and no 0 in front'

/** Checked in the currency later. */
const amount = z
  .string({ error: AMOUNT_MESSAGE })
  .regex(AMOUNT_PATTERN, AMOUNT_MESSAGE)
  .openapi({ pattern: AMOUNT_PATTERN.source, maxLength: 22 })

function readCurrency(code: string): string | undefined {
  const upper = code.length === 3 ? code.toUpperCase() : code
  return isCurrency(upper) ? upper : undefined
}

const currency = z
  .string({ error: CURRENCY_MESSAGE })
  .transform(readAs(readCurrency, CURRENCY_MESSAGE))
  .openapi({ type: 'string', pattern: '^[A-Za-z]{3}$', minLength: 3, maxLength: 3 })

const emailAddress = text(1, EMAIL_MAX)
  .transform(readAs(toEmailAddress, 'must be an email address'))
  .openapi({ type: 'string', minLength: 1, maxLength: EMAIL_MAX })

/** The members that name a lead. An outcome has exactly one of them. */
export const LEAD_FIELDS = ['submissionId', 'email', 'clickId'] as const
export type LeadField = (typeof LEAD_FIELDS)[number]

export const CreateOutcome = z
  .strictObject({
    submissionId: wholeNumber(1, ID_MAX).nullable().optional(),
    email: emailAddress
      .nullable()
      .optional()
      .openapi({ type: ['string', 'null'], description: 'The latest lead of this address before `at`' }),
    clickId: text(1, CLICK_ID_MAX)
      .nullable()
      .optional()
      .openapi({ description: 'The latest lead before `at` that this click brought' }),
    stage: oneOf(OUTCOME_STAGES),
    value: amount.nullable().optional().openapi({
      description: 'At most two decimal places more than the currency uses. Requires a currency',
    }),
    currency: currency
      .nullable()
      .optional()
      .openapi({ type: ['string', 'null'] }),
    at: instant()
      .nullable()
      .optional()
      .openapi({
        description:
          'When it happened: at most an hour from now. Absent: now, or as it was where `externalId` is known and the ' +
          'stage stays',
      }),
    externalId: text(1, EXTERNAL_ID_MAX).nullable().optional().openapi({
      description: 'Your id. An existing outcome with this id is changed; absent fields keep their values',
    }),
  })
  .superRefine((input, context) => {
    const given = LEAD_FIELDS.filter((name) => input[name] !== undefined && input[name] !== null)
    if (given.length === 1) return
    const message =
      given.length === 0
        ? 'is required, unless email or clickId names the lead'
        : `must be absent, because ${given[0]} names the lead`
    context.addIssue({ code: 'custom', path: [given[1] ?? 'submissionId'], message })
  })
  .openapi('CreateOutcome')
export type CreateOutcomeInput = z.infer<typeof CreateOutcome>

const bulk = z
  .array(CreateOutcome, { error: 'must be a list' })
  .min(1, 'must have at least one item')
  .max(OUTCOMES_MAX, `must be at most ${OUTCOMES_MAX} items`)

/** One outcome, a list, or an object with the list as `outcomes`. */
export const CreateOutcomes = z
  .union([CreateOutcome, bulk, z.strictObject({ outcomes: bulk })], {
    error: `must be an outcome, a list of 1 to ${OUTCOMES_MAX}, or an object with that list as outcomes`,
  })
  .openapi('CreateOutcomes')

/** The filters of the list and of the export. */
export const OUTCOME_SELECTION = {
  start: dateRangeEnd('start', 'By `at`: an instant, or a date (its first moment, UTC)'),
  end: dateRangeEnd('end', 'By `at`: an instant (exclusive), or a date (the whole day counts, UTC)'),
  stage: oneOf(OUTCOME_STAGES).optional(),
  currency: parameter(3)
    .transform((code) => code.toUpperCase())
    .refine(isCurrency, CURRENCY_MESSAGE)
    .optional()
    .openapi({ type: 'string', maxLength: 3, example: 'EUR' }),
  submissionId: numberParameter(1, ID_MAX).optional(),
  formKey: parameter(64).optional(),
  externalId: parameter(EXTERNAL_ID_MAX).optional(),
}

export const OutcomeListQuery = z
  .strictObject({
    ...PAGE_PARAMETERS,
    ...OUTCOME_SELECTION,
  })
  .superRefine(requireStartBeforeEnd)
export type OutcomeListQueryInput = z.infer<typeof OutcomeListQuery>
export type OutcomeSelection = Omit<OutcomeListQueryInput, 'limit' | 'cursor'>

export const GOOGLE_CLICK_IDS = ['gclid', 'gbraid', 'wbraid'] as const
export type GoogleClickId = (typeof GOOGLE_CLICK_IDS)[number]
const OUTCOME_EXPORT_FORMATS = ['csv', 'google-ads'] as const

const EXPORT_OPTIONS = {
  format: oneOf(OUTCOME_EXPORT_FORMATS).optional().openapi({ description: 'csv when absent' }),
  clickIdType: oneOf(GOOGLE_CLICK_IDS).optional().openapi({
    description: 'google-ads: the kind of id in the file, gclid when absent. Each kind needs a separate file',
  }),
  conversionName: parameter(100)
    .refine((name) => name.trim() !== '', 'must not be blank')
    .optional()
    .openapi({
      description:
        'google-ads: the name of the conversion action in your account. Absent: `Qualified lead` and `Converted lead`',
    }),
}

export const OutcomeExportQuery = z
  .strictObject({ ...EXPORT_OPTIONS, ...OUTCOME_SELECTION })
  .superRefine(requireStartBeforeEnd)
  .superRefine(({ format, clickIdType, conversionName }, context) =>
    requireFormat(context, format, ['google-ads'], { clickIdType, conversionName }),
  )
export type OutcomeExportOptions = Pick<z.infer<typeof OutcomeExportQuery>, keyof typeof EXPORT_OPTIONS>
