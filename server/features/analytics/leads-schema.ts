// Parameters and answers about leads and funnels. The grammar is that of clicks, without the columns that only hits
// have (trigger, class, referring page).

import { z } from '@hono/zod-openapi'
import { oneOf, parameter } from '../../lib/api-fields.ts'
import { CURRENCY_MESSAGE, isCurrency } from '../../lib/money/currencies.ts'
import type { FilterName } from '../../storage/filter-grammar.ts'
import { ORIGIN_DIMENSIONS, type OriginDimension } from '../../storage/sources/origin-sql.ts'
import { TRAFFIC_CHANNELS } from '../../storage/sources/traffic-channel.ts'
import { ATTRIBUTION_MODELS, type AttributionModel } from './attribution-model.ts'
import { LEAD_DIMENSIONS } from './count-leads.ts'
import { explainFields, explainParameter } from './explain.ts'
import {
  checkGrouping,
  filterParameter,
  filterParameters,
  granularityParameter,
  LIMIT_DEFAULT,
  limitParameter,
  ORIGIN_PARAMETERS,
  type QuestionSelection,
  RANGE_PARAMETERS,
  toSelection,
} from './parameters.ts'
import type { Granularity } from './timeline.ts'

/** The parameters that leads and funnels share. */
const SELECTION = {
  ...RANGE_PARAMETERS,
  model: oneOf(ATTRIBUTION_MODELS)
    .optional()
    .openapi({
      description:
        'Which touch of a lead its link, campaign and referrer are taken from: the first, the last, or each with its ' +
        'part; last when absent',
    }),
  linkId: filterParameter('linkId'),
  tagId: filterParameter('tagId', 'Links that have any of these tags'),
  domain: filterParameter('domain'),
  slug: filterParameter('slug'),
  ...filterParameters(LEAD_DIMENSIONS),
  ...ORIGIN_PARAMETERS,
}
const SELECTION_FILTERS = [
  'linkId',
  'tagId',
  'domain',
  'slug',
  ...LEAD_DIMENSIONS,
  ...ORIGIN_DIMENSIONS,
] as const

const LEAD_GROUPINGS = [
  'time',
  'link',
  'linkId',
  'tag',
  'tagId',
  'domain',
  'slug',
  'form',
  'page',
  ...LEAD_DIMENSIONS,
  ...ORIGIN_DIMENSIONS,
] as const

/** The parameters that counts and exports of leads share. */
const LEAD_SELECTION = {
  ...SELECTION,
  form: filterParameter('form', 'The `formKey` of a form, several, or all but these'),
  page: filterParameter('page', 'Address of the page with the form, without its query'),
}

/** Amounts of different currencies are never added up. */
const currencyParameter = parameter(3)
  .transform((code) => code.toUpperCase())
  .refine(isCurrency, CURRENCY_MESSAGE)
  .optional()
  .openapi({
    type: 'string',
    maxLength: 3,
    description:
      'The currency of `value` (ISO 4217). Absent: the one in which most outcomes of the workspace in the range were won',
    example: 'EUR',
  })

export const LeadParameters = z.strictObject({
  ...LEAD_SELECTION,
  currency: currencyParameter,
  groupBy: oneOf(LEAD_GROUPINGS).optional().openapi({ description: 'Totals when absent' }),
  granularity: granularityParameter,
  limit: limitParameter,
  explain: explainParameter,
})

const LEAD_EXPORT_FORMATS = ['csv', 'ndjson'] as const
export type LeadExportFormat = (typeof LEAD_EXPORT_FORMATS)[number]

export const LeadExportParameters = z.strictObject({
  ...LEAD_SELECTION,
  format: oneOf(LEAD_EXPORT_FORMATS).optional().openapi({ description: 'csv when absent' }),
})
const LEAD_FILTERS = [...SELECTION_FILTERS, 'form', 'page'] as const satisfies FilterName[]

interface LeadQuestionSelection extends QuestionSelection<(typeof LEAD_FILTERS)[number]> {
  model: AttributionModel
}

export interface LeadExportQuestion extends LeadQuestionSelection {
  format: LeadExportFormat
}

/** @throws Failure `invalid` for parameters that cannot be combined */
export const toLeadExportQuestion = (written: z.infer<typeof LeadExportParameters>): LeadExportQuestion => ({
  ...toSelection(written, LEAD_FILTERS),
  model: written.model ?? 'last',
  format: written.format ?? 'csv',
})

export interface LeadQuestion extends LeadQuestionSelection {
  groupBy: 'total' | Exclude<(typeof LEAD_GROUPINGS)[number], 'link' | 'tag'>
  /** Null: chosen by the length of the range. */
  granularity: Granularity | null
  limit: number
  /** Null: the most used one. */
  currency: string | null
}

/** @throws Failure `invalid` for parameters that cannot be combined */
export function toLeadQuestion(written: z.infer<typeof LeadParameters>): LeadQuestion {
  checkGrouping(written)
  const { groupBy = 'total' } = written
  return {
    ...toSelection(written, LEAD_FILTERS),
    model: written.model ?? 'last',
    groupBy: groupBy === 'link' ? 'linkId' : groupBy === 'tag' ? 'tagId' : groupBy,
    granularity: written.granularity ?? null,
    limit: written.limit ?? LIMIT_DEFAULT,
    currency: written.currency ?? null,
  }
}

const FUNNEL_GROUPINGS = [
  'link',
  'linkId',
  'tag',
  'tagId',
  'campaign',
  'utmCampaign',
  'source',
  'channel',
  'referrer',
  'country',
  'variant',
] as const

export const FunnelParameters = z.strictObject({
  ...SELECTION,
  currency: currencyParameter,
  groupBy: oneOf(FUNNEL_GROUPINGS).optional().openapi({
    description:
      'Totals when absent. linkId, tagId and utmCampaign are other names of link, tag and campaign',
  }),
  limit: limitParameter,
  explain: explainParameter,
})

export interface FunnelQuestion extends QuestionSelection<(typeof SELECTION_FILTERS)[number]> {
  model: AttributionModel
  groupBy: 'total' | 'linkId' | 'tagId' | 'utmCampaign' | OriginDimension | 'referrer' | 'country' | 'variant'
  limit: number
  /** Null: the most used one. */
  currency: string | null
}

const ALIASES = { link: 'linkId', tag: 'tagId', campaign: 'utmCampaign' } as const

/** @throws Failure `invalid`, as `toLeadQuestion` does */
export function toFunnelQuestion(written: z.infer<typeof FunnelParameters>): FunnelQuestion {
  checkGrouping(written)
  const { groupBy = 'total' } = written
  return {
    ...toSelection(written, SELECTION_FILTERS),
    model: written.model ?? 'last',
    groupBy: groupBy in ALIASES ? ALIASES[groupBy as keyof typeof ALIASES] : (groupBy as never),
    limit: written.limit ?? LIMIT_DEFAULT,
    currency: written.currency ?? null,
  }
}

const leads = z.number().min(0).openapi({
  description:
    'A whole number, except for model=linear: there it is exact to a millionth, and the parts of a lead add up to 1',
  example: 12,
})
const money = {
  qualified: z.number().min(0).openapi({
    description: 'Leads that were qualified in the range, whenever they came; with parts as `leads`',
  }),
  won: z.number().min(0).openapi({ description: 'Leads that were won in the range, whenever they came' }),
  value: z.string().nullable().openapi({
    description:
      'Total value of won outcomes of the range in `currency`: decimal text, exact under every model',
    example: '1299.00',
  }),
}
const counts = {
  leads,
  visitors: z.int().openapi({ description: 'Exact count of distinct visitors' }),
  ...money,
}

/** Beside `data`, where the question names a currency or something was won with a value in the range. */
const moneyFields = {
  currency: z.string().optional().openapi({ description: 'Of `value`', example: 'EUR' }),
  otherCurrencies: z.array(z.string()).optional().openapi({
    description: 'In which leads of the workspace were won in the range too: they are in no `value`',
  }),
}
export type AnswerMoney = z.infer<z.ZodObject<typeof moneyFields>>

const range = { start: z.iso.datetime(), end: z.iso.datetime() }
const linkFields = {
  link: z
    .int()
    .nullable()
    .openapi({ description: 'null: without a link; leads with pending attribution are in no row' }),
  slug: z.string().nullable(),
  domain: z.string().nullable(),
  destinationUrl: z.string().nullable(),
  deleted: z.boolean(),
}
const tagFields = { tag: z.int(), name: z.string().nullable() }

const LeadTotals = z.strictObject({ ...counts, ...range }).openapi('LeadTotals')
const LeadBucket = z
  .strictObject({ time: z.iso.datetime().openapi({ description: 'Start of the bucket' }), ...counts })
  .openapi('LeadBucket')
const LeadLink = z.strictObject({ ...linkFields, ...counts }).openapi('LeadLink')
const LeadTag = z.strictObject({ ...tagFields, ...counts }).openapi('LeadTag')
const LeadForm = z
  .strictObject({ form: z.string(), name: z.string().nullable(), ...counts })
  .openapi('LeadForm')
const LeadGroup = z
  .object(counts)
  .catchall(z.union([z.string(), z.number(), z.null()]))
  .openapi('LeadGroup', { description: 'Counts, and the value under the name given as groupBy' })

export const LeadAnswer = z.strictObject({
  ...explainFields,
  ...moneyFields,
  data: z.union([
    LeadTotals,
    z.array(LeadBucket),
    z.array(LeadLink),
    z.array(LeadTag),
    z.array(LeadForm),
    z.array(LeadGroup),
  ]),
})
export type LeadAnswerData = z.infer<typeof LeadAnswer>['data']

const stages = {
  clicks: z.int().openapi({ description: 'Clicks of people' }),
  visits: z.int().openapi({ description: 'Visits of people to pages with the snippet' }),
  leads,
  rate: z.number().min(0).max(1).nullable().openapi({
    description:
      'Leads that came from a click of the range, divided by clicks, to four decimals and at most 1; null without clicks',
    example: 0.125,
  }),
  ...money,
}

const FunnelTotals = z.strictObject({ ...stages, ...range }).openapi('FunnelTotals')
const FunnelLink = z.strictObject({ ...linkFields, ...stages }).openapi('FunnelLink')
const FunnelTag = z.strictObject({ ...tagFields, ...stages }).openapi('FunnelTag')
const FunnelCampaign = z.strictObject({ campaign: z.string(), ...stages }).openapi('FunnelCampaign')
const FunnelSource = z.strictObject({ source: z.string(), ...stages }).openapi('FunnelSource')
const FunnelChannel = z
  .strictObject({ channel: z.enum(TRAFFIC_CHANNELS), ...stages })
  .openapi('FunnelChannel')
const FunnelReferrer = z.strictObject({ referrer: z.string(), ...stages }).openapi('FunnelReferrer')
const FunnelCountry = z.strictObject({ country: z.string(), ...stages }).openapi('FunnelCountry')
const FunnelVariant = z.strictObject({ variant: z.string(), ...stages }).openapi('FunnelVariant')

export const FunnelAnswer = z.strictObject({
  ...explainFields,
  ...moneyFields,
  data: z.union([
    FunnelTotals,
    z.array(FunnelLink),
    z.array(FunnelTag),
    z.array(FunnelCampaign),
    z.array(FunnelSource),
    z.array(FunnelChannel),
    z.array(FunnelReferrer),
    z.array(FunnelCountry),
    z.array(FunnelVariant),
  ]),
})
export type FunnelAnswerData = z.infer<typeof FunnelAnswer>['data']
