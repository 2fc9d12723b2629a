import { expect, test } from 'bun:test'
import { createBackoff } from './backoff.ts'

test('doubles the pause up to the longest, and starts again with the shortest after a success', () => {
  const backoff = createBackoff({ firstMs: 250, longestMs: 2_000 })
  expect(Array.from({ length: 5 }, () => backoff.nextMs())).toEqual([250, 500, 1_000, 2_000, 2_000])
  backoff.reset()
  expect(backoff.nextMs()).toBe(250)
})
