// Questions about clicks on the wire: the parameters with their grammar, the answers, and the plain question they mean.

import { z } from '@hono/zod-openapi'
import { invalid } from '../../lib/failure.ts'
import { isCleanText } from '../../lib/text.ts'
import { numberParameter, oneOf, parameter } from '../../lib/wire.ts'
import { EXPORT_FORMATS } from '../../storage/hits/engine.ts'
import { HIT_CLASSES, HIT_DIMENSIONS, type HitClass } from '../../storage/hits/hit.ts'
import { type FilterName, type FilterValues, readClasses, readFilter } from './filter.ts'
import {
  GRANULARITIES,
  type Granularity,
  INTERVALS,
  type Interval,
  isZone,
  type Range,
  readMoment,
} from './timeline.ts'

export const LIMIT_DEFAULT = 100
export const LIMIT_MAX = 1000

const repeatable = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat())

// Room for hundreds of values; more than a URL may have anyway.
const WRITTEN_MAX = 8192

const clean = repeatable
  .refine((values) => values.every(isCleanText), 'must not contain NUL or broken Unicode')
  .refine((values) => values.join().length <= WRITTEN_MAX, `must be at most ${WRITTEN_MAX} characters`)

/** `US`, `US,BR`, `-US,BR`, also repeated; see filter.ts for the grammar. */
const filter = (name: FilterName, description?: string) =>
  clean
    .transform((written, context) => {
      const read = readFilter(name, written)
      if (typeof read !== 'string') return read
      context.addIssue({ code: 'custom', message: read })
      return z.NEVER
    })
    .optional()
    .openapi({
      type: 'string',
      maxLength: WRITTEN_MAX,
      description: description ?? 'One value, several (`a,b`: any of them), or all but these (`-a,b`)',
    })

const classes = clean
  .transform((written, context) => {
    const read = readClasses(written)
    if (typeof read !== 'string') return read
    context.addIssue({ code: 'custom', message: read })
    return z.NEVER
  })
  .optional()
  .openapi({
    type: 'string',
    maxLength: WRITTEN_MAX,
    description: `Who clicked: any of ${HIT_CLASSES.join(', ')}, or all; human when absent`,
  })

const moment = (description: string) =>
  parameter(40).optional().openapi({ description, example: '2026-03-29' })

const own = Object.fromEntries(HIT_DIMENSIONS.map((name) => [name, filter(name)])) as Record<
  (typeof HIT_DIMENSIONS)[number],
  ReturnType<typeof filter>
>

const GROUPINGS = [
  'time',
  'link',
  'linkId',
  'tag',
  'tagId',
  'domain',
  'slug',
  ...HIT_DIMENSIONS,
  'class',
] as const
type WrittenGrouping = (typeof GROUPINGS)[number]
export type QuestionGrouping = Exclude<WrittenGrouping, 'time' | 'link' | 'tag'>

/** Which clicks: what every question about them has. */
const SELECTION = {
  interval: oneOf(INTERVALS).optional().openapi({
    description: '30d when neither this nor start nor end is given; ends now, whole days or hours',
  }),
  start: moment(
    'An instant, or a date (its first moment in the time zone); the workspace’s beginning when absent',
  ),
  end: moment('An instant (exclusive), or a date (the whole day counts); now when absent'),
  timezone: parameter(64)
    .refine(isZone, 'must be an IANA time zone such as Europe/Berlin')
    .optional()
    .openapi({
      description: 'IANA name that dates and buckets follow; UTC when absent',
      example: 'Europe/Berlin',
    }),
  class: classes,
  linkId: filter('linkId'),
  tagId: filter('tagId', 'Clicks on links that carry any of these tags'),
  domain: filter('domain'),
  slug: filter('slug'),
  ...own,
}

export const ClickParameters = z.strictObject({
  ...SELECTION,
  groupBy: oneOf(GROUPINGS).optional().openapi({ description: 'Totals when absent' }),
  granularity: oneOf(GRANULARITIES)
    .optional()
    .openapi({ description: 'Of groupBy=time; chosen by the length of the range when absent' }),
  limit: numberParameter(1, LIMIT_MAX)
    .optional()
    .openapi({ description: `Rows of groupBy; ${LIMIT_DEFAULT} when absent` }),
})
export type ClickParametersInput = z.infer<typeof ClickParameters>
type SelectionInput = Omit<ClickParametersInput, 'groupBy' | 'granularity' | 'limit'>

export const ExportParameters = z.strictObject({
  ...SELECTION,
  format: oneOf(EXPORT_FORMATS).optional().openapi({ description: 'csv when absent' }),
})

/** Which clicks are meant, without a trace of how it was written. */
export interface ClickSelection {
  range: { interval: Interval } | { start: number | null; end: number | null }
  timezone: string
  filters: ({ name: FilterName } & FilterValues)[]
  classes: HitClass[]
}

export interface AnalyticsQuestion extends ClickSelection {
  groupBy: 'total' | 'time' | QuestionGrouping
  /** Null: whatever suits the range. */
  granularity: Granularity | null
  limit: number
}

const FILTERS = ['linkId', 'tagId', 'domain', 'slug', ...HIT_DIMENSIONS] as const

/** @throws `invalid` where parameters, each right by itself, do not go together. */
export function questionOf(written: ClickParametersInput): AnalyticsQuestion {
  const { groupBy = 'total', granularity = null, limit } = written
  if (granularity && groupBy !== 'time') throw invalid({ granularity: 'works only with groupBy=time' })
  if (limit !== undefined && (groupBy === 'time' || groupBy === 'total'))
    throw invalid({ limit: 'works only with a groupBy other than time' })
  return {
    ...selectionOf(written),
    groupBy: groupBy === 'link' ? 'linkId' : groupBy === 'tag' ? 'tagId' : groupBy,
    granularity,
    limit: limit ?? LIMIT_DEFAULT,
  }
}

/** @throws `invalid`, as `questionOf` does */
export function selectionOf(written: SelectionInput): ClickSelection {
  const timezone = written.timezone ?? 'UTC'
  return {
    range: rangeOf(written, timezone),
    timezone,
    filters: FILTERS.flatMap((name) => {
      const values = written[name]
      return values ? [{ name, ...values }] : []
    }),
    classes: written.class ?? ['human'],
  }
}

function rangeOf({ interval, start, end }: SelectionInput, zone: string): ClickSelection['range'] {
  if (start === undefined && end === undefined) return { interval: interval ?? '30d' }
  if (interval) throw invalid({ interval: 'cannot be combined with start or end' })
  const moments = { start: edge('start', start, zone), end: edge('end', end, zone) }
  return { start: moments.start?.start ?? null, end: moments.end?.end ?? null }
}

function edge(name: string, text: string | undefined, zone: string): Range | null {
  if (text === undefined) return null
  const moment = readMoment(text, zone)
  if (!moment)
    throw invalid({ [name]: 'must be an ISO 8601 time or date, such as 2026-03-29 or 2026-03-29T12:00:00Z' })
  return moment
}

const counts = {
  clicks: z.int(),
  visitors: z.int().openapi({ description: 'Exact count of distinct visitors' }),
}

export const ClickTotals = z
  .strictObject({ ...counts, start: z.iso.datetime(), end: z.iso.datetime() })
  .openapi('ClickTotals')
export const ClickBucket = z
  .strictObject({ time: z.iso.datetime().openapi({ description: 'Where the bucket begins' }), ...counts })
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
  data: z.union([
    ClickTotals,
    z.array(ClickBucket),
    z.array(ClickLink),
    z.array(ClickTag),
    z.array(ClickGroup),
  ]),
})
export type ClickAnswerData = z.infer<typeof ClickAnswer>['data']
