import { expect, test } from 'bun:test'
import { COUNTED_MAX } from '../outbox/waiting-deliveries.ts'
import { type BacklogTrend, extendTrend, hasCaughtUp, isFallingBehind } from './backlog-trend.ts'

const NOW = 1_000_000_000

/** @param checks each as `due@seconds`: how many are due, and for how many seconds the oldest has been */
const toTrend = (checks: string) =>
  checks.split(' ').reduce<BacklogTrend>((trend, check) => {
    const [due, seconds] = check.split('@').map(Number) as [number, number]
    const oldestDue = due === 0 ? null : NOW - seconds * 1000
    return extendTrend(trend, { waiting: due, due, oldest: oldestDue, oldestDue }, NOW)
  }, [])

const MANY = String(COUNTED_MAX)

test.each([
  ['three late checks and more than before them', true, '5@55 9@65 8@75 12@85'],
  ['a steady rise', true, '5@65 6@75 7@85 8@95'],
  ['only three checks', false, '5@65 6@75 7@85'],
  ['a burst that is worked off', false, '900@65 700@75 500@85 300@95'],
  ['as many as before', false, '5@65 6@75 7@85 5@95'],
  ['one check in time', false, '5@65 6@75 7@60 8@70'],
  ['more than are counted', true, `${MANY}@65 ${MANY}@75 ${MANY}@85 ${MANY}@95`],
])('%s: falling behind is %p', (_, expected, checks) => {
  expect(isFallingBehind(toTrend(checks))).toBe(expected)
})

test.each([
  ['nothing is due in three checks', true, '9@90 0@0 0@0 0@0'],
  ['in time in three checks', true, '50@59 50@30 50@10'],
  ['in time in two checks', false, '50@61 50@30 0@0'],
  ['late again', false, '0@0 0@0 50@61 0@0'],
])('%s: caught up is %p', (_, expected, checks) => {
  expect(hasCaughtUp(toTrend(checks))).toBe(expected)
})
