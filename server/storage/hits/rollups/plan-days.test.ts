// The planner's reasons for days that are not rolled up. plan-model.test.ts tests that plans are exact.

import { expect, test } from 'bun:test'
import { createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { HitQuery } from '../hit-engine.ts'
import { planDays, toHitsOrigin } from './plan-days.ts'
import type { RollUpState } from './rollup.ts'

const FIRST = Date.UTC(2026, 4, 3) / DAY_MS
const TIMES = { set: 'times', needsUnmixed: false } as const
const COUNTRIES = { set: 'people', needsUnmixed: false } as const
const LIST = { groupBy: { by: 'country', limit: 10, nullAs: 'Unknown' } } as const

const toState = (rolled: number, withHits: number): RollUpState => ({
  days: new Set(Array.from({ length: rolled }, (_, n) => FIRST + n)),
  months: new Set(),
  mixed: new Set(),
  tails: new Map(),
  hitDays: { start: FIRST, end: FIRST + withHits },
})
/** @param start in days after the first hit */
const toQuery = (start: number, end: number, part: Partial<HitQuery> = {}) =>
  createHitQuery({ start: (FIRST + start) * DAY_MS, end: (FIRST + end) * DAY_MS, ...part })

function list(query: HitQuery, state: RollUpState, choice: Parameters<typeof planDays>[1] = TIMES) {
  const plan = planDays(query, choice, state)
  return (Array.isArray(plan) ? plan : plan.origin).map(({ start, end, from, why }) => [
    start / DAY_MS - FIRST,
    end / DAY_MS - FIRST,
    why ?? from,
  ])
}

test('days before the first hit and after the last one are told apart from days that wait', () => {
  expect(list(toQuery(-60, 40), toState(8, 10))).toEqual([
    [-60, 0, 'no_hits'],
    [0, 8, 'days'],
    [8, 10, 'not_rolled_up'],
    [10, 40, 'no_hits'],
  ])
})

test('a list is not read from hits because of days that nobody has hits of', () => {
  expect(list(toQuery(-60, 60, LIST), toState(10, 11), COUNTRIES)).toContainEqual([0, 10, 'days'])
  expect(list(toQuery(-60, 60, LIST), toState(10, 21), COUNTRIES)).toEqual([
    [-60, 0, 'no_hits'],
    [0, 21, 'mostly_hits'],
    [21, 60, 'no_hits'],
  ])
})

test('a range without any roll-up keeps the reason of each day', () => {
  expect(list(toQuery(0.5, 50), toState(1, 50), COUNTRIES)).toEqual([
    [0.5, 1, 'edge'],
    [1, 50, 'not_rolled_up'],
  ])
  expect(list(toQuery(-365, 0.5), toState(1, 1), COUNTRIES)).toEqual([
    [-365, 0, 'no_hits'],
    [0, 0.5, 'edge'],
  ])
  expect(list(toQuery(-9, -3), toState(5, 5))).toEqual([[-9, -3, 'no_hits']])
  expect(list(toQuery(-9, 9), { ...toState(0, 0), hitDays: { start: Infinity, end: -Infinity } })).toEqual([
    [-9, 9, 'no_hits'],
  ])
})

test('hits that are scattered are said to be so, and the steps of another time zone where they are the cause', () => {
  const starts = Array.from({ length: 24 }, (_, n) => (FIRST + 30 * n) * DAY_MS - 2 * 3_600_000)
  const months = toQuery(-9, 720, { groupBy: { by: 'time', starts } })
  const inBerlin = list(months, toState(720, 720), COUNTRIES)
  expect(inBerlin).toEqual([
    [-9, 0, 'no_hits'],
    [0, 720, 'bucket'],
  ])
  const mixed = new Set(starts.map((_, n) => FIRST + 30 * n))
  const choice = { set: 'people', needsUnmixed: true } as const
  expect(list(toQuery(-9, 720), { ...toState(720, 720), mixed }, choice)).toEqual([
    [-9, 0, 'no_hits'],
    [0, 720, 'scattered'],
  ])
})

test('a question for hits alone reads none of days without hits', () => {
  const origin = toHitsOrigin(toQuery(-365, 1), 'question', toState(0, 1).hitDays)
  expect(origin.map(({ why }) => why)).toEqual(['no_hits', 'question'])
  expect(toHitsOrigin(toQuery(-365, 1), 'question').map(({ why }) => why)).toEqual(['question'])
  expect(toHitsOrigin(toQuery(1, 1), 'question')).toEqual([])
})
