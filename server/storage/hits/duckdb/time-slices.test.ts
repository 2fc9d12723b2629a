import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type CountedSlice, splitIntoSlices, type TimeSlice } from './time-slices.ts'

const counter = (times: number[]) => async (range: TimeSlice, width: number) => {
  const buckets = new Map<number, CountedSlice>()
  for (const at of times.filter((time) => time >= range.start && time < range.end)) {
    const start = range.start + Math.floor((at - range.start) / width) * width
    const bucket = buckets.get(start) ?? { start, end: Math.min(start + width, range.end), hits: 0 }
    bucket.hits++
    buckets.set(start, bucket)
  }
  return [...buckets.values()].sort((a, b) => a.start - b.start)
}
const within = (times: number[], { start, end }: TimeSlice) =>
  times.filter((at) => at >= start && at < end).length

test('slices follow each other, hold every hit once, and keep to the limit', async () => {
  const range = { start: 1000, end: 5_000_000 }
  const crowd = fc.tuple(
    fc.integer({ min: range.start, max: range.end - 1 }),
    fc.integer({ min: 1, max: 12 }),
  )
  const property = fc.asyncProperty(fc.array(crowd, { maxLength: 60 }), async (crowds) => {
    const times = crowds.flatMap(([at, hits]) => Array(hits).fill(at) as number[])
    const slices = await splitIntoSlices(range, 8, counter(times))
    expect(slices.reduce((sum, slice) => sum + within(times, slice), 0)).toBe(times.length)
    for (const [i, slice] of slices.entries()) {
      expect(slice.start).toBeLessThan(slice.end)
      if (i > 0) expect(slice.start).toBeGreaterThanOrEqual(slices[i - 1]?.end as number)
      // One millisecond cannot be split.
      if (slice.end - slice.start > 1) expect(within(times, slice)).toBeLessThanOrEqual(8)
    }
  })
  await fc.assert(property, { numRuns: 200 })
})

test('there are no slices without hits', async () => {
  expect(await splitIntoSlices({ start: 0, end: 1e15 }, 10, counter([]))).toEqual([])
})

test('a crowded moment in ten years is isolated in a few steps', async () => {
  const moment = Date.parse('2026-05-01T12:00:00Z')
  const times = Array.from({ length: 1000 }, (_, i) => moment + Math.floor(i / 10))
  let counted = 0
  const count = counter(times)
  const slices = await splitIntoSlices({ start: 0, end: 2e12 }, 100, (range, width) => {
    counted++
    return count(range, width)
  })
  expect(slices.map((slice) => within(times, slice))).toEqual(Array(10).fill(100))
  expect(counted).toBeLessThan(8)
})
