// What a dashboard asks, as the engine is asked it.

import { HIT_DIMENSIONS } from '../server/storage/hits/hit.ts'
import type { HitFilter, HitGrouping, HitQuery } from '../server/storage/hits/hit-engine.ts'
import { END, GENERATED_DAYS } from './hits-generator.ts'

export interface Question {
  name: string
  query: HitQuery
}

const DAY = 86_400_000

/** Two that together leave about a tenth. */
const TWO_FILTERS: HitFilter[] = [
  { column: 'country', values: ['US', 'DE'], negate: false },
  { column: 'device', values: ['mobile'], negate: false },
]

export function createQuestions(workspaceId: number): Question[] {
  const ask = (days: number, what: string, groupBy: HitGrouping, filters: HitFilter[] = []): Question => ({
    name: `${what}, ${days} days`,
    query: { workspaceId, start: END - days * DAY, end: END, classes: ['human'], filters, groupBy },
  })
  const top = (by: (typeof HIT_DIMENSIONS)[number] | 'linkId' | 'class') =>
    ({ by, limit: 10, nullAs: 'Unknown' }) as const
  const byDay = (days: number) =>
    ({ by: 'time', starts: Array.from({ length: days }, (_, n) => END - (days - n) * DAY) }) as const
  const total = { by: 'total' } as const
  const dimensions = ['linkId', ...HIT_DIMENSIONS] as const
  return [
    ...[90, GENERATED_DAYS].flatMap((days) => [
      ask(days, 'totals', total),
      ask(days, 'by day', byDay(days)),
      ask(days, 'totals, two filters', total, TWO_FILTERS),
      ask(days, 'by day, two filters', byDay(days), TWO_FILTERS),
    ]),
    ...dimensions.map((each) => ask(90, `top 10 ${each}`, top(each))),
    ...dimensions.map((each) => ask(GENERATED_DAYS, `top 10 ${each}`, top(each))),
  ]
}
