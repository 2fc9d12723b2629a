// What the planner says of days beside the rolled ones. Whether plans are exact, plan-model.test.ts says.

import { expect, test } from 'bun:test'
import { createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { HitQuery } from '../hit-engine.ts'
import { planDays } from './plan-days.ts'
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
  if (typeof plan === 'string') return plan
  return plan.origin.map(({ start, end, from, why }) => [
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
  expect(list(toQuery(-60, 60, LIST), toState(10, 21), COUNTRIES)).toBe('mostly_hits')
})

test('a range without any roll-up names what most of it lacks', () => {
  expect(list(toQuery(0.5, 50), toState(1, 50), COUNTRIES)).toBe('not_rolled_up')
  expect(list(toQuery(0.5, 1), toState(1, 50), COUNTRIES)).toBe('edge')
  expect(list(toQuery(-9, -3), toState(5, 5))).toBe('no_hits')
  expect(list(toQuery(-9, 9), { ...toState(0, 0), hitDays: { start: Infinity, end: -Infinity } })).toBe(
    'no_hits',
  )
})
