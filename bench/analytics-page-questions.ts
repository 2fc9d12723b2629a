// What the dashboard's analytics page asks, as queries of the hit engine.

import { toNullLabel } from '../server/features/analytics/filter.ts'
import { listBucketStarts, toZonedTime, untilNow } from '../server/features/analytics/timeline.ts'
import { DAY_MS } from '../server/lib/utc-day.ts'
import type { HitColumn, HitFilter, HitGrouping, HitSelection } from '../server/storage/hits/hit-engine.ts'
import type { Question } from './analytics-questions.ts'
import { END, GENERATED_DAYS } from './hits-generator.ts'

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
const TAGS = 20
const DOMAINS = 3

const TOTAL = { by: 'total' } as const

interface Range {
  start: number
  end: number
}

/** Today and the days before it. */
const LAST_DAYS: Range = { start: END - GENERATED_DAYS * DAY_MS, end: untilNow(NOW) }

/**
 * In the dashboard, the period before ends at the same time of the day. It begins as many days earlier as it is long, and
 * no hits are generated there. So it begins one day earlier here, and has as many hits as the period itself.
 */
const BEFORE: Range = { start: LAST_DAYS.start - DAY_MS, end: LAST_DAYS.end - DAY_MS }

const listDays = (range: Range, zone: string): HitGrouping => ({
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

/** What the analytics page asks when it opens. */
export function createPageQuestions(workspaceId: number): Question[] {
  const ask = createAsker(workspaceId)
  return [
    ask('totals', TOTAL),
    ask('totals, period before', TOTAL, BEFORE),
    ask('imported totals', TOTAL, { imported: true }),
    ask('by day', listDays(LAST_DAYS, 'UTC')),
    ask('by day, period before', listDays(BEFORE, 'UTC'), BEFORE),
    ask('top links', toTop('linkId')),
    ask('top sources', toTop('source')),
    ask('top countries', toTop('country')),
    ask('top campaigns', toTop('utmCampaign')),
    ask('top devices', toTop('device')),
    ask('visits of the funnel', TOTAL, { outcomes: ['landing'] }),
  ]
}

/** What a person asks next. @param linkIds the links of the workspace */
export function createNextQuestions(workspaceId: number, linkIds: readonly number[]): Question[] {
  const ask = createAsker(workspaceId)
  const local = {
    start: toZonedTime(LAST_DAYS.start, ZONE).startOfDay().epochMilliseconds,
    end: LAST_DAYS.end,
  }
  const toGroups = (toNames: (linkId: number) => (string | number)[]): HitGrouping => ({
    by: 'linkGroup',
    groups: linkIds.flatMap((linkId) => toNames(linkId).map((group) => ({ linkId, group }))),
    limit: TOP_LIMIT,
  })
  return [
    ask(`by day in ${ZONE}`, listDays(local, ZONE), local),
    ask('top cities', toTop('city')),
    ask('top referring pages', toTop('referrerUrl')),
    ask('totals, two filters', TOTAL, { filters: TWO_FILTERS }),
    // Every link has a tag, and every third one has two.
    ask(
      'top tags',
      toGroups((id) => (id % 3 === 0 ? [id % TAGS, (id + 7) % TAGS] : [id % TAGS])),
    ),
    ask(
      'top domains',
      toGroups((id) => [`go${id % DOMAINS}.example`]),
    ),
  ]
}
