import { describe, expect, test } from 'bun:test'
import type { BatchFile } from './batch-file.ts'
import { selectPrunableBatches } from './batch-retention.ts'

const HOUR = 60 * 60 * 1000
const limits = { ageMs: 7 * 24 * HOUR, bytes: 1000, files: 100 }
const now = 1e12

/** One batch for each hour, the newest of this hour. */
const batches = (count: number, bytes = 1): BatchFile[] =>
  Array.from({ length: count }, (_, i) => ({
    node: 'n',
    number: i + 1,
    path: '',
    end: { seq: 1, offset: 64 },
    bytes,
    writtenAt: now - (count - 1 - i) * HOUR,
  }))
const last = (list: BatchFile[], mark: number, counted: number, over = limits) =>
  selectPrunableBatches(list, { now, mark, counted }, over).at(-1)?.number

describe('selectPrunableBatches', () => {
  test('keeps batches for a week, and prunes a day’s worth at a time', () => {
    const many = { ...limits, files: 1000 }
    expect(last(batches(7 * 24 + 20), 1e6, 1e6, many)).toBeUndefined()
    expect(last(batches(8 * 24 + 2), 1e6, 1e6, many)).toBe(25)
  })
  test('keeps batches that the engine or the counters do not have', () => {
    const many = { ...limits, files: 1000 }
    expect(last(batches(500), 10, 1e6, many)).toBe(10)
    expect(last(batches(500), 1e6, 3, many)).toBe(3)
    expect(last(batches(500), 0, 0, many)).toBeUndefined()
  })
  test('prunes batches over the size or number limit, down to three quarters of the limit', () => {
    expect(last(batches(20, 60), 1e6, 1e6)).toBe(8)
    expect(last(batches(101), 1e6, 1e6)).toBe(26)
  })
  test('keeps the newest batch, whose name says how far the spool was read', () => {
    expect(last(batches(3, 5000), 1e6, 1e6)).toBe(2)
    expect(last(batches(1, 5000), 1e6, 1e6)).toBeUndefined()
  })
})
