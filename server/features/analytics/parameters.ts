// Parameters that questions about clicks and leads share: filters, range, grouping.

import { z } from '@hono/zod-openapi'
import { EXAMPLE_DATES, numberParameter, oneOf, parameter } from '../../lib/api-fields.ts'
import { isTimeZone } from '../../lib/date-range.ts'
import { invalid } from '../../lib/failure.ts'
import { isCleanText } from '../../lib/text.ts'
import { type FilterName, type FilterValues, readFilter } from '../../storage/filter-grammar.ts'
import { TRAFFIC_CHANNELS } from '../../storage/sources/traffic-channel.ts'
import {
  GRANULARITIES,
  type Granularity,
  INTERVALS,
  type Interval,
  readMoment,
  type TimeRange,
} from './timeline.ts'

export const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1000

const repeatable = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat())

// Room for hundreds of values.
export const PARAMETER_MAX = 8192

export const cleanParameter = repeatable
  .refine((values) => values.every(isCleanText), 'must not contain NUL or broken Unicode')
  .refine((values) => values.join().length <= PARAMETER_MAX, `must be at most ${PARAMETER_MAX} characters`)

/** A filter such as `US`, `US,BR` or `-US,BR` (grammar: storage/filter-grammar.ts). It may be repeated. */
export const filterParameter = (name: FilterName, description?: string) =>
  cleanParameter
    .transform((written, context) => {
      const read = readFilter(name, written)
      if (typeof read !== 'string') return read
      context.addIssue({ code: 'custom', message: read })
      return z.NEVER
    })
    .optional()
    .openapi({
      type: 'string',
      maxLength: PARAMETER_MAX,
      description: description ?? 'One value, several (`a,b`: any of them), or all but these (`-a,b`)',
    })

export const filterParameters = <const Name extends FilterName>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, filterParameter(name)])) as Record<
    Name,
    ReturnType<typeof filterParameter>
  >

/** The same for clicks, leads and the funnel. */
export const ORIGIN_PARAMETERS = {
  source: filterParameter(
    'source',
    'Where visitors came from, as `groupBy=source` names it: `Facebook` for all of its hosts and apps, else the host',
  ),
  channel: filterParameter('channel', `Any of ${TRAFFIC_CHANNELS.join(', ')}, or all but these`),
}

const moment = (which: 'start' | 'end', description: string) =>
  parameter(40).optional().openapi({ description, example: EXAMPLE_DATES[which] })

export const RANGE_PARAMETERS = {
  interval: oneOf(INTERVALS).optional().openapi({
    description: '30d when neither this nor start nor end is given; ends now, whole days or hours',
  }),
  start: moment(
    'start',
    'An instant, or a date (its first moment in the time zone); the workspace’s beginning when absent',
  ),
  end: moment('end', 'An instant (exclusive), or a date (the whole day counts); now when absent'),
  timezone: parameter(64)
    .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
    .optional()
    .openapi({
      description: 'IANA name that dates and buckets follow; UTC when absent',
      example: 'Europe/Berlin',
    }),
}

export const granularityParameter = oneOf(GRANULARITIES)
  .optional()
  .openapi({ description: 'For groupBy=time; chosen by the length of the range when absent' })

/** For an answer that is always a list. */
export const rowLimitParameter = numberParameter(1, LIMIT_MAX)
  .optional()
  .openapi({ description: `Rows; ${LIMIT_DEFAULT} when absent` })

export const limitParameter = numberParameter(1, LIMIT_MAX)
  .optional()
  .openapi({ description: `Rows of groupBy; ${LIMIT_DEFAULT} when absent` })

/** @param counted what the answer has of the time before it */
export const countedUntilHeader = (counted: string) =>
  ({
    'X-Counted-Until': {
      description: `${counted} before this time`,
      schema: { type: 'string', format: 'date-time' },
    },
  }) as const

/** The rows that a question is about, in parsed form. */
export interface QuestionSelection<Name extends FilterName = FilterName> {
  range: { interval: Interval } | { start: number | null; end: number | null }
  timezone: string
  filters: ({ name: Name } & FilterValues)[]
}

type WrittenSelection<Name extends FilterName> = {
  interval?: Interval
  start?: string
  end?: string
  timezone?: string
} & { [name in Name]?: FilterValues }

/** @throws Failure `invalid` for parameters that cannot be combined */
export function toSelection<const Name extends FilterName>(
  written: WrittenSelection<Name>,
  names: readonly Name[],
): QuestionSelection<Name> {
  const timezone = written.timezone ?? 'UTC'
  return {
    range: toRange(written, timezone),
    timezone,
    filters: names.flatMap((name) => {
      const values = written[name] as FilterValues | undefined
      return values ? [{ name, ...values }] : []
    }),
  }
}

function toRange(
  { interval, start, end }: Pick<WrittenSelection<never>, 'interval' | 'start' | 'end'>,
  zone: string,
): QuestionSelection['range'] {
  if (start === undefined && end === undefined) return { interval: interval ?? '30d' }
  if (interval) throw invalid({ interval: 'cannot be combined with start or end' })
  const moments = { start: readRangeEdge('start', start, zone), end: readRangeEdge('end', end, zone) }
  return { start: moments.start?.start ?? null, end: moments.end?.end ?? null }
}

function readRangeEdge(name: string, text: string | undefined, zone: string): TimeRange | null {
  if (text === undefined) return null
  const moment = readMoment(text, zone)
  if (!moment)
    throw invalid({ [name]: 'must be an ISO 8601 time or date, such as 2026-03-29 or 2026-03-29T12:00:00Z' })
  return moment
}

interface GroupingParameters {
  groupBy?: string
  granularity?: Granularity
  limit?: number
}

/** @throws Failure `invalid`, as `toSelection` does */
export function checkGrouping({ groupBy, granularity, limit }: GroupingParameters): void {
  if (granularity && groupBy !== 'time') throw invalid({ granularity: 'works only with groupBy=time' })
  if (limit !== undefined && (groupBy === undefined || groupBy === 'time'))
    throw invalid({ limit: 'works only with a groupBy other than time' })
}
