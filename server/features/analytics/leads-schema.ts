// Questions about leads and funnels on the wire. The grammar is that of clicks; what a hit alone has (its trigger, its
// class, the referring page) cannot be asked of a lead.

import { z } from '@hono/zod-openapi'
import { oneOf } from '../../lib/api-fields.ts'
import { ATTRIBUTION_MODELS, type AttributionModel } from './attribution-model.ts'
import { LEAD_DIMENSIONS } from './count-leads.ts'
import type { FilterName } from './filter.ts'
import {
  checkGrouping,
  filterParameter,
  filterParameters,
  granularityParameter,
  LIMIT_DEFAULT,
  limitParameter,
  type QuestionSelection,
  RANGE_PARAMETERS,
  toSelection,
} from './parameters.ts'
import type { Granularity } from './timeline.ts'

/** Which leads, and which clicks and visits: what both questions have. */
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
  tagId: filterParameter('tagId', 'Of links that carry any of these tags'),
  domain: filterParameter('domain'),
  slug: filterParameter('slug'),
  ...filterParameters(LEAD_DIMENSIONS),
}
const SELECTION_FILTERS = ['linkId', 'tagId', 'domain', 'slug', ...LEAD_DIMENSIONS] as const

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
] as const

export const LeadParameters = z.strictObject({
  ...SELECTION,
  form: filterParameter('form', 'The `formKey` of a form, several, or all but these'),
  page: filterParameter('page', 'Address of the page with the form, without its query'),
  groupBy: oneOf(LEAD_GROUPINGS).optional().openapi({ description: 'Totals when absent' }),
  granularity: granularityParameter,
  limit: limitParameter,
})
const LEAD_FILTERS = [...SELECTION_FILTERS, 'form', 'page'] as const satisfies FilterName[]

export interface LeadQuestion extends QuestionSelection<(typeof LEAD_FILTERS)[number]> {
  model: AttributionModel
  groupBy: 'total' | Exclude<(typeof LEAD_GROUPINGS)[number], 'link' | 'tag'>
  /** Null: whatever suits the range. */
  granularity: Granularity | null
  limit: number
}

/** @throws `invalid` where parameters, each right by itself, do not go together. */
export function toLeadQuestion(written: z.infer<typeof LeadParameters>): LeadQuestion {
  checkGrouping(written)
  const { groupBy = 'total' } = written
  return {
    ...toSelection(written, LEAD_FILTERS),
    model: written.model ?? 'last',
    groupBy: groupBy === 'link' ? 'linkId' : groupBy === 'tag' ? 'tagId' : groupBy,
    granularity: written.granularity ?? null,
    limit: written.limit ?? LIMIT_DEFAULT,
  }
}

const FUNNEL_GROUPINGS = [
  'link',
  'linkId',
  'tag',
  'tagId',
  'campaign',
  'utmCampaign',
  'referrer',
  'country',
] as const

export const FunnelParameters = z.strictObject({
  ...SELECTION,
  groupBy: oneOf(FUNNEL_GROUPINGS).optional().openapi({
    description:
      'Totals when absent. linkId, tagId and utmCampaign are other names of link, tag and campaign',
  }),
  limit: limitParameter,
})

export interface FunnelQuestion extends QuestionSelection<(typeof SELECTION_FILTERS)[number]> {
  model: AttributionModel
  groupBy: 'total' | 'linkId' | 'tagId' | 'utmCampaign' | 'referrer' | 'country'
  limit: number
}

const ALIASES = { link: 'linkId', tag: 'tagId', campaign: 'utmCampaign' } as const

/** @throws `invalid`, as `toLeadQuestion` does */
export function toFunnelQuestion(written: z.infer<typeof FunnelParameters>): FunnelQuestion {
  checkGrouping(written)
  const { groupBy = 'total' } = written
  return {
    ...toSelection(written, SELECTION_FILTERS),
    model: written.model ?? 'last',
    groupBy: groupBy in ALIASES ? ALIASES[groupBy as keyof typeof ALIASES] : (groupBy as never),
    limit: written.limit ?? LIMIT_DEFAULT,
  }
}

const leads = z.number().min(0).openapi({
  description:
    'Whole but for model=linear, where it is exact to a millionth: the parts of a lead add up to 1',
  example: 12,
})
const counts = { leads, visitors: z.int().openapi({ description: 'Exact count of distinct visitors' }) }

const range = { start: z.iso.datetime(), end: z.iso.datetime() }
const ofLink = {
  link: z
    .int()
    .nullable()
    .openapi({ description: 'null: without a link; leads whose attribution is pending are in no row' }),
  slug: z.string().nullable(),
  domain: z.string().nullable(),
  destinationUrl: z.string().nullable(),
  deleted: z.boolean(),
}
const ofTag = { tag: z.int(), name: z.string().nullable() }

const LeadTotals = z.strictObject({ ...counts, ...range }).openapi('LeadTotals')
const LeadBucket = z
  .strictObject({ time: z.iso.datetime().openapi({ description: 'Where the bucket begins' }), ...counts })
  .openapi('LeadBucket')
const LeadLink = z.strictObject({ ...ofLink, ...counts }).openapi('LeadLink')
const LeadTag = z.strictObject({ ...ofTag, ...counts }).openapi('LeadTag')
const LeadForm = z
  .strictObject({ form: z.string(), name: z.string().nullable(), ...counts })
  .openapi('LeadForm')
const LeadGroup = z
  .object(counts)
  .catchall(z.union([z.string(), z.number()]))
  .openapi('LeadGroup', { description: 'Counts, and the value under the name given as groupBy' })

export const LeadAnswer = z.strictObject({
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
  rate: z
    .number()
    .min(0)
    .nullable()
    .openapi({ description: 'leads / clicks, to four decimals; null without clicks', example: 0.125 }),
}

const FunnelTotals = z.strictObject({ ...stages, ...range }).openapi('FunnelTotals')
const FunnelLink = z.strictObject({ ...ofLink, ...stages }).openapi('FunnelLink')
const FunnelTag = z.strictObject({ ...ofTag, ...stages }).openapi('FunnelTag')
const FunnelCampaign = z.strictObject({ campaign: z.string(), ...stages }).openapi('FunnelCampaign')
const FunnelReferrer = z.strictObject({ referrer: z.string(), ...stages }).openapi('FunnelReferrer')
const FunnelCountry = z.strictObject({ country: z.string(), ...stages }).openapi('FunnelCountry')

export const FunnelAnswer = z.strictObject({
  data: z.union([
    FunnelTotals,
    z.array(FunnelLink),
    z.array(FunnelTag),
    z.array(FunnelCampaign),
    z.array(FunnelReferrer),
    z.array(FunnelCountry),
  ]),
})
export type FunnelAnswerData = z.infer<typeof FunnelAnswer>['data']
