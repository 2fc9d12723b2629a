// The questions of a dashboard, as queries of the hit engine.

import { listBucketStarts, toZonedTime, untilNow } from '../../../server/features/analytics/timeline.ts'
import { DAY_MS } from '../../../server/lib/utc-day.ts'
import { toNullLabel } from '../../../server/storage/filter-grammar.ts'
import { HIT_DIMENSIONS } from '../../../server/storage/hits/hit.ts'
import type {
  HitColumn,
  HitFilter,
  HitGrouping,
  HitQuery,
  HitSelection,
} from '../../../server/storage/hits/hit-engine.ts'
import { END, GENERATED_DAYS } from './generate-hits.ts'

export interface Question {
  name: string
  query: HitQuery
}

/** The page is opened at noon of the last day, which is half over. */
export const NOW = END - DAY_MS / 2

/** Together the two filters leave about a tenth of the hits. */
const TWO_FILTERS: HitFilter[] = [
  { column: 'country', values: ['US', 'DE'], negate: false },
  { column: 'device', values: ['mobile'], negate: false },
]

/** The limit of the dashboard's top lists. */
const TOP_LIMIT = 100
const ZONE = 'Europe/Berlin'
const TOTAL = { by: 'total' } as const

interface Range {
  start: number
  end: number
}

/** Today and the days before it. */
const LAST_DAYS: Range = { start: END - GENERATED_DAYS * DAY_MS, end: untilNow(NOW) }
/** No hits are generated before the period, so the period before begins one day earlier here, and has as many hits. */
const BEFORE: Range = { start: LAST_DAYS.start - DAY_MS, end: LAST_DAYS.end - DAY_MS }

const listDays = (range: Range, zone = 'UTC'): HitGrouping => ({
  by: 'time',
  starts: listBucketStarts(range, 'day', zone),
})

const toTop = (by: HitColumn): HitGrouping => ({ by, limit: TOP_LIMIT, nullAs: toNullLabel(by) })

const createAsker =
  (workspaceId: number) =>
  (name: string, groupBy: HitGrouping, rest: Partial<HitSelection> = {}): Question => ({
    name,
    query: { workspaceId, ...LAST_DAYS, classes: ['human'], filters: [], groupBy, ...rest },
  })

/** The questions of the analytics page when it opens. */
export function createPageQuestions(workspaceId: number): Question[] {
  const ask = createAsker(workspaceId)
  return [
    ask('totals', TOTAL),
    ask('totals, period before', TOTAL, BEFORE),
    ask('imported totals', TOTAL, { imported: true }),
    ask('by day', listDays(LAST_DAYS)),
    ask('by day, period before', listDays(BEFORE), BEFORE),
    ask('top links', toTop('linkId')),
    ask('top sources', toTop('source')),
    ask('top countries', toTop('country')),
    ask('top campaigns', toTop('utmCampaign')),
    ask('top devices', toTop('device')),
    ask('visits of the funnel', TOTAL, { outcomes: ['landing'] }),
  ]
}

/** Follow-up questions of a person on the page. */
export function createNextQuestions(workspaceId: number): Question[] {
  const ask = createAsker(workspaceId)
  const startOfDay = toZonedTime(LAST_DAYS.start, ZONE).startOfDay().epochMilliseconds
  const local = { start: startOfDay, end: LAST_DAYS.end }
  return [
    ask(`by day in ${ZONE}`, listDays(local, ZONE), local),
    ask('totals, two filters', TOTAL, { filters: TWO_FILTERS }),
    ask('by day, two filters', listDays(LAST_DAYS), { filters: TWO_FILTERS }),
    ...HIT_DIMENSIONS.map((dimension) => ask(`top ${dimension}`, toTop(dimension))),
    ask('top channel', toTop('channel')),
  ]
}
