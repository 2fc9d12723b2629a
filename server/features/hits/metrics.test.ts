import { expect, test } from 'bun:test'
import { toRollUpMetrics } from './metrics.ts'

test('days that wait for roll-ups are no number while nobody could look', () => {
  const listNames = (waiting?: number) =>
    toRollUpMetrics({ waiting, made: 3, failures: 1 }).map(({ name, value }) => [name, value])
  const counters = [
    ['towpath_roll_ups_total', 3],
    ['towpath_roll_up_failures_total', 1],
  ]
  expect(listNames()).toEqual(counters)
  expect(listNames(0)).toEqual([['towpath_roll_ups_waiting', 0], ...counters])
})
