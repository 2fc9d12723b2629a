import { expect, test } from 'bun:test'
import { addBytes, createProgress } from './progress.ts'

const agoMs = (ms: number) => ({ sinceMs: performance.now() - ms })
const waitedMs = ({ sinceMs }: { sinceMs: number }) => performance.now() - sinceMs

test('bytes buy time, at 500 a second', () => {
  const progress = agoMs(60_000)
  addBytes(progress, 10_000)
  expect(Math.round(waitedMs(progress) / 1000)).toBe(40)
})

test('a byte now and then buys next to none', () => {
  const progress = agoMs(60_000)
  for (let i = 0; i < 60; i++) addBytes(progress, 1)
  expect(waitedMs(progress)).toBeGreaterThan(59_000)
})

test('no time is bought in advance, and none by an end that is gone', () => {
  const progress = createProgress()
  addBytes(progress, 1_000_000)
  expect(waitedMs(progress)).toBeGreaterThanOrEqual(0)
  const gone = agoMs(60_000)
  addBytes(gone, -1)
  expect(waitedMs(gone)).toBeGreaterThanOrEqual(60_000)
})
