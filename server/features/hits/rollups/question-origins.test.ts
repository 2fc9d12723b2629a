import { expect, test } from 'bun:test'
import { findSurvivors, toMutants } from '../../../../tests/support/rollups/mutate-source.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { OriginPart } from '../../../storage/hits/rollups/answer-origin.ts'
import { addQuestion, countOriginDays, NO_QUESTIONS } from './question-origins.ts'
import { createWorkerCountSums, NO_COUNTS } from './worker-counts.ts'

const HOUR = DAY_MS / 24
/** After all days of the first test. */
const NOW = 99 * DAY_MS
const part = (from: OriginPart['from'], start: number, end: number): OriginPart => ({
  from,
  start: start * DAY_MS,
  end: end * DAY_MS,
})

test('a day of which any hit is read is a day of hits, and counts once', () => {
  expect(countOriginDays([], NOW)).toEqual({ rolledUp: 0, hits: 0 })
  expect(countOriginDays([part('hits', 5, 5)], NOW)).toEqual({ rolledUp: 0, hits: 0 })
  expect(countOriginDays([part('months', 31, 59), part('days', 59, 62), part('hits', 62, 63)], NOW)).toEqual({
    rolledUp: 31,
    hits: 1,
  })
  expect(
    countOriginDays(
      [
        part('quarter_hours', 0.5, 1),
        part('days', 1, 3),
        { from: 'hits', start: 3 * DAY_MS, end: 3 * DAY_MS + HOUR },
      ],
      NOW,
    ),
  ).toEqual({ rolledUp: 3, hits: 1 })
  expect(
    countOriginDays([part('quarter_hours', 2, 2.5), part('hits', 2.5, 2.75), part('hits', 2.75, 4)], NOW),
  ).toEqual({
    rolledUp: 0,
    hits: 2,
  })
})

/** Two days of sums and hits, days without hits, two parts of one day, and what is after today. */
const MIXED: OriginPart[] = [
  { ...part('hits', 0, 4), why: 'no_hits' },
  part('days', 4, 6),
  part('quarter_hours', 6, 6.25),
  part('hits', 6.25, 6.5),
  part('hits', 6.5, 6.5),
  part('hits', 6.75, 8),
  part('hits', 20.5, 90),
]
const COUNTED = { rolledUp: 2, hits: 2 }

test('each rule of these counts matters', async () => {
  expect(countOriginDays(MIXED, 9 * DAY_MS)).toEqual(COUNTED)
  const mutants = toMutants('question-origins.ts', [
    ['days without hits', "if (why === 'no_hits') continue", ''],
    ['today', 'Math.min(partEnd, tomorrow)', 'partEnd'],
    ['parts of one day', 'after - Math.max(toDay(start), nextDay)', 'after - toDay(start)'],
    ['hits of one day', 'after - Math.max(toDay(start), nextHitDay)', 'after - toDay(start)'],
    ['roll-ups', "if (from !== 'hits') continue", ''],
  ])
  const check = (copy: { countOriginDays: typeof countOriginDays }) =>
    Bun.deepEquals(copy.countOriginDays(MIXED, 9 * DAY_MS), COUNTED)
  expect(await findSurvivors(import.meta.dir, ['question-origins.ts'], mutants, check)).toEqual([])
})

test('questions are counted by what their answers are made of, and days after today by nobody', () => {
  const now = 10.5 * DAY_MS
  let counts = addQuestion(NO_QUESTIONS, [part('days', 0, 9), part('months', 9, 10)], now)
  counts = addQuestion(counts, [part('days', 0, 10), part('hits', 10, 4000)], now)
  counts = addQuestion(counts, [part('hits', 8, 10.25)], now)
  counts = addQuestion(counts, [part('hits', 20, 30)], now)
  expect(counts).toEqual({ fromRollUps: 1, fromBoth: 1, fromHits: 2, rolledUpDays: 20, hitDays: 4 })
})

test('counts go on when another worker starts, and what nobody knows yet stays what it was', () => {
  const sums = createWorkerCountSums()
  const origins = { ...NO_QUESTIONS, fromHits: 2, hitDays: 60 }
  sums.update({ engineFailures: 1, origins, rollUps: { waiting: 3, made: 5, failures: 1 } })
  sums.restart()
  sums.update(NO_COUNTS)
  expect(sums.total()).toEqual({ engineFailures: 1, origins, rollUps: { waiting: 3, made: 5, failures: 1 } })
  sums.update({ engineFailures: 1, origins, rollUps: { waiting: 0, made: 3, failures: 0 } })
  expect(sums.total()).toEqual({
    engineFailures: 2,
    origins: { ...NO_QUESTIONS, fromHits: 4, hitDays: 120 },
    rollUps: { waiting: 0, made: 8, failures: 1 },
  })
})
