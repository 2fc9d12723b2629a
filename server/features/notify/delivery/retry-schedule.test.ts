import { expect, test } from 'bun:test'
import { ATTEMPTS_MAX, planNextAttempt, planPauseEnd, RETRY_DELAYS } from './retry-schedule.ts'

const HOUR = 3_600_000

test('plans ten attempts within 75 h 35 min and a few seconds', () => {
  expect(ATTEMPTS_MAX).toBe(10)
  const whole = RETRY_DELAYS.reduce<number>((sum, wait) => sum + wait, 0)
  expect(whole).toBe(75 * HOUR + 35 * 60_000 + 5_000)
})

test.each([
  [1, 5_000],
  [2, 300_000],
  [3, 1_800_000],
  [4, 2 * HOUR],
  [9, 24 * HOUR],
])('after attempt %i the next is due in %i ms, a fifth more or less', (attempts, wait) => {
  expect(planNextAttempt({ at: 1000, attempts }, () => 0.5)).toBe(1000 + wait)
  expect(planNextAttempt({ at: 1000, attempts }, () => 0)).toBe(1000 + wait * 0.8)
  expect(planNextAttempt({ at: 1000, attempts }, () => 1)).toBe(1000 + wait * 1.2)
})

test('plans none after the tenth', () => {
  expect(planNextAttempt({ at: 1000, attempts: 10 })).toBeUndefined()
})

test('waits for Retry-After, at most a day', () => {
  expect(planNextAttempt({ at: 0, attempts: 1, retryAfterMs: 60_000 })).toBe(60_000)
  expect(planNextAttempt({ at: 0, attempts: 9, retryAfterMs: 60_000 }, () => 0.5)).toBe(24 * HOUR)
  expect(planNextAttempt({ at: 0, attempts: 1, retryAfterMs: 1e15 })).toBe(24 * HOUR)
  expect(planPauseEnd(5, undefined)).toBeNull()
  expect(planPauseEnd(5, 0)).toBeNull()
  expect(planPauseEnd(5, 1e15)).toBe(5 + 24 * HOUR)
})
