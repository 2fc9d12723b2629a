// Parameters and answers about clicks, and the question that parsed parameters form.

import { z } from '@hono/zod-openapi'
import { oneOf } from '../../lib/api-fields.ts'
import { type ClickFilterName, readClasses } from '../../storage/filter-grammar.ts'
import { HIT_CLASSES, HIT_DIMENSIONS, type HitClass } from '../../storage/hits/hit.ts'
import { EXPORT_FORMATS } from '../../storage/hits/hit-engine.ts'
import { isParamColumn, type ParamColumn } from '../../storage/hits/kept-params.ts'
import { ORIGIN_DIMENSIONS } from '../../storage/sources/origin-sql.ts'
import { explainFields, explainParameter } from './explain.ts'
import {
  checkGrouping,
  cleanParameter,
  filterParameter,
  filterParameters,
  granularityParameter,
  LIMIT_DEFAULT,
  limitParameter,
  ORIGIN_PARAMETERS,
  PARAMETER_MAX,
  type QuestionSelection,
  RANGE_PARAMETERS,
  toSelection,
} from './parameters.ts'
import type { Granularity } from './timeline.ts'

export const classesParameter = cleanParameter
  .transform((written, context) => {
    const read = readClasses(written)
    if (typeof read !== 'string') return read
    context.addIssue({ code: 'custom', message: read })
    return z.NEVER
  })
  .optional()
  .openapi({
    type: 'string',
    maxLength: PARAMETER_MAX,
    description: `Who clicked: any of ${HIT_CLASSES.join(', ')}, or all; human when absent`,
  })

const GROUPINGS = [
  'time',
  'link',
  'linkId',
  'tag',
  'tagId',
  'domain',
  'slug',
  ...HIT_DIMENSIONS,
  ...ORIGIN_DIMENSIONS,
  'class',
] as const
type WrittenGrouping = (typeof GROUPINGS)[number] | ParamColumn
export type QuestionGrouping = Exclude<WrittenGrouping, 'time' | 'link' | 'tag'>

export const CLICK_FILTER_PARAMETERS = {
  linkId: filterParameter('linkId'),
  tagId: filterParameter('tagId', 'Clicks on links that have any of these tags'),
  domain: filterParameter('domain'),
  slug: filterParameter('slug'),
  ...filterParameters(HIT_DIMENSIONS),
  ...ORIGIN_PARAMETERS,
}

/** The parameters that counts and exports share. */
const SELECTION = {
  ...RANGE_PARAMETERS,
  class: classesParameter,
  imported: oneOf(['true', 'false']).optional().openapi({
    description: 'Only imported clicks, or only recorded ones; both when absent',
  }),
  ...CLICK_FILTER_PARAMETERS,
}

const NO_GROUPING = `must be one of ${GROUPINGS.join(', ')}, or param.<name>`

const grouping = z.union(
  [
    oneOf(GROUPINGS),
    z
      .string()
      .refine(isParamColumn, NO_GROUPING)
      .openapi({ pattern: '^param\\.[A-Za-z0-9_.-]{1,40}$', maxLength: 46, example: 'param.ref' }),
  ],
  { error: NO_GROUPING },
)

/**
 * Takes the filters of kept parameters, `param.<name>`, beside the declared parameters, and refuses all others. Which names a
 * workspace keeps is not known here.
 */
function withParamFilters<const Shape extends z.core.$ZodShape>(shape: Shape) {
  const parameters = z
    .object(shape)
    .catchall(filterParameter('param.'))
    .superRefine(
      (written, context) => {
        const keys = Object.keys(written).filter((key) => !Object.hasOwn(shape, key) && !isParamColumn(key))
        if (keys.length > 0) context.addIssue({ code: 'unrecognized_keys', keys, input: written })
      },
      // Beside other mistakes too.
      { when: () => true },
    )
  return parameters as unknown as z.ZodObject<Shape, z.core.$strict>
}

export const ClickParameters = withParamFilters({
  ...SELECTION,
  groupBy: grouping.optional().openapi({ description: 'Totals when absent' }),
  granularity: granularityParameter,
  limit: limitParameter,
  explain: explainParameter,
})
export type ClickParametersInput = z.infer<typeof ClickParameters>
type SelectionInput = Omit<ClickParametersInput, 'groupBy' | 'granularity' | 'limit' | 'explain'>

export const ExportParameters = withParamFilters({
  ...SELECTION,
  format: oneOf(EXPORT_FORMATS).optional().openapi({ description: 'csv when absent' }),
})

export interface ClickSelection extends QuestionSelection<ClickFilterName> {
  classes: HitClass[]
  /** Undefined: all clicks. */
  imported?: boolean
}

export interface ClickQuestion extends ClickSelection {
  groupBy: 'total' | 'time' | QuestionGrouping
  /** Null: chosen by the length of the range. */
  granularity: Granularity | null
  limit: number
}

const FILTERS = ['linkId', 'tagId', 'domain', 'slug', ...HIT_DIMENSIONS, ...ORIGIN_DIMENSIONS] as const

/** @throws Failure `invalid` for parameters that cannot be combined */
export function toClickQuestion(written: ClickParametersInput): ClickQuestion {
  checkGrouping(written)
  const { groupBy = 'total' } = written
  return {
    ...toClickSelection(written),
    groupBy: groupBy === 'link' ? 'linkId' : groupBy === 'tag' ? 'tagId' : groupBy,
    granularity: written.granularity ?? null,
    limit: written.limit ?? LIMIT_DEFAULT,
  }
}

/** @throws Failure `invalid`, as `toClickQuestion` does */
export const toClickSelection = (written: SelectionInput): ClickSelection => ({
  ...toSelection(written, [...FILTERS, ...Object.keys(written).filter(isParamColumn)]),
  classes: written.class ?? ['human'],
  imported: written.imported === undefined ? undefined : written.imported === 'true',
})

const counts = {
  clicks: z.int(),
  visitors: z.int().openapi({ description: 'Exact count of distinct visitors' }),
}

export const ClickTotals = z
  .strictObject({ ...counts, start: z.iso.datetime(), end: z.iso.datetime() })
  .openapi('ClickTotals')
export const ClickBucket = z
  .strictObject({ time: z.iso.datetime().openapi({ description: 'Start of the bucket' }), ...counts })
  .openapi('ClickBucket')
export const ClickLink = z
  .strictObject({
    link: z.int(),
    slug: z.string().nullable(),
    domain: z.string().nullable(),
    destinationUrl: z.string().nullable(),
    deleted: z.boolean(),
    ...counts,
  })
  .openapi('ClickLink')
export const ClickTag = z
  .strictObject({ tag: z.int(), name: z.string().nullable(), ...counts })
  .openapi('ClickTag')
export const ClickGroup = z
  .object(counts)
  .catchall(z.union([z.string(), z.int()]))
  .openapi('ClickGroup', { description: 'Counts, and the value under the name given as groupBy' })

export const ClickAnswer = z.strictObject({
  ...explainFields,
  note: z.string().optional().openapi({ description: 'Only where a list has values together, as `(other)`' }),
  data: z.union([
    ClickTotals,
    z.array(ClickBucket),
    z.array(ClickLink),
    z.array(ClickTag),
    z.array(ClickGroup),
  ]),
})
export type ClickAnswerData = z.infer<typeof ClickAnswer>['data']
