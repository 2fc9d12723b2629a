// The questions of a dashboard, as queries of the hit engine.

import { HIT_DIMENSIONS } from '../server/storage/hits/hit.ts'
import type { HitColumn, HitFilter, HitGrouping, HitQuery } from '../server/storage/hits/hit-engine.ts'
import { ORIGIN_DIMENSIONS } from '../server/storage/sources/origin-sql.ts'
import { END, GENERATED_DAYS } from './hits-generator.ts'

export interface Question {
  name: string
  query: HitQuery
}

const DAY = 86_400_000

/** Together the two filters leave about a tenth of the hits. */
const TWO_FILTERS: HitFilter[] = [
  { column: 'country', values: ['US', 'DE'], negate: false },
  { column: 'device', values: ['mobile'], negate: false },
]

export function createQuestions(workspaceId: number): Question[] {
  const ask = (days: number, what: string, groupBy: HitGrouping, filters: HitFilter[] = []): Question => ({
    name: `${what}, ${days} days`,
    query: { workspaceId, start: END - days * DAY, end: END, classes: ['human'], filters, groupBy },
  })
  const top = (by: HitColumn) => ({ by, limit: 10, nullAs: 'Unknown' }) as const
  const byDay = (days: number) =>
    ({ by: 'time', starts: Array.from({ length: days }, (_, n) => END - (days - n) * DAY) }) as const
  const total = { by: 'total' } as const
  const dimensions = ['linkId', ...HIT_DIMENSIONS, ...ORIGIN_DIMENSIONS] as const
  return [
    ...[90, GENERATED_DAYS].flatMap((days) => [
      ask(days, 'totals', total),
      ask(days, 'by day', byDay(days)),
      ask(days, 'totals, two filters', total, TWO_FILTERS),
      ask(days, 'by day, two filters', byDay(days), TWO_FILTERS),
    ]),
    ...dimensions.map((dimension) => ask(90, `top 10 ${dimension}`, top(dimension))),
    ...dimensions.map((dimension) => ask(GENERATED_DAYS, `top 10 ${dimension}`, top(dimension))),
  ]
}
