import { expect, test } from 'bun:test'
import { ATTEMPTS_MAX, LADDER, nextDue, pausedUntil } from './ladder.ts'

const HOUR = 3_600_000

test('ten attempts within 75 h 35 min and a few seconds', () => {
  expect(ATTEMPTS_MAX).toBe(10)
  const whole = LADDER.reduce<number>((sum, wait) => sum + wait, 0)
  expect(whole).toBe(75 * HOUR + 35 * 60_000 + 5_000)
})

test.each([
  [1, 5_000],
  [2, 300_000],
  [3, 1_800_000],
  [4, 2 * HOUR],
  [9, 24 * HOUR],
])('after attempt %i the next is due in %i ms, a fifth more or less', (attempts, wait) => {
  expect(nextDue({ at: 1000, attempts }, () => 0.5)).toBe(1000 + wait)
  expect(nextDue({ at: 1000, attempts }, () => 0)).toBe(1000 + wait * 0.8)
  expect(nextDue({ at: 1000, attempts }, () => 1)).toBe(1000 + wait * 1.2)
})

test('after the tenth there is none', () => {
  expect(nextDue({ at: 1000, attempts: 10 })).toBeUndefined()
})

test('never before a service asks to be left alone until, which is a day at most', () => {
  expect(nextDue({ at: 0, attempts: 1, retryAfterMs: 60_000 })).toBe(60_000)
  expect(nextDue({ at: 0, attempts: 9, retryAfterMs: 60_000 }, () => 0.5)).toBe(24 * HOUR)
  expect(nextDue({ at: 0, attempts: 1, retryAfterMs: 1e15 })).toBe(24 * HOUR)
  expect(pausedUntil(5, undefined)).toBeNull()
  expect(pausedUntil(5, 0)).toBeNull()
  expect(pausedUntil(5, 1e15)).toBe(5 + 24 * HOUR)
})
