import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createChangeCursor, HOLE_MS } from './change-cursor.ts'

const row = (seq: number) => ({ seq, domain: '', slug_key: `l${seq}`, workspace_id: null, at: seq })
const start = { seq: 10, at: 10 }

test('numbers that do not come are holes until they come', () => {
  const cursor = createChangeCursor(start)
  cursor.advance([row(11), row(14)], 0)
  expect([cursor.last().seq, cursor.holes()]).toEqual([14, [12, 13]])
  cursor.fill([row(13)], [12, 13], 1)
  expect(cursor.holes()).toEqual([12])
  cursor.advance([row(16)], 2)
  expect([cursor.last().seq, cursor.holes()]).toEqual([16, [12, 15]])
})

test('a hole is closed two minutes after it was seen, and only when it was asked for once more', () => {
  const cursor = createChangeCursor(start)
  cursor.advance([row(12)], 0)
  cursor.advance([row(14)], 60_000)
  cursor.fill([], [11, 13], HOLE_MS - 1)
  expect(cursor.holes()).toEqual([11, 13])
  // The process stood still for hours: nobody has looked since.
  cursor.fill([], [13], 9e9)
  expect(cursor.holes()).toEqual([11])
  cursor.fill([], [11], 9e9)
  expect(cursor.holes()).toEqual([])
})

test('more holes than can be asked for are told once, and later changes are followed', () => {
  const cursor = createChangeCursor(start, 5)
  cursor.advance([row(14)], 0)
  expect(cursor.takeLostHoles()).toBe(false)
  cursor.advance([row(18)], 0)
  expect([cursor.takeLostHoles(), cursor.takeLostHoles()]).toEqual([true, false])
  expect([cursor.last().seq, cursor.holes()]).toEqual([18, [11, 12, 13]])
})

test('every number is read, or is a hole', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 11, max: 60 })), fc.nat(5), (seqs, pages) => {
      const cursor = createChangeCursor(start)
      const sorted = seqs.toSorted((a, b) => a - b)
      const size = Math.ceil(sorted.length / (pages + 1)) || 1
      for (let from = 0; from < sorted.length; from += size)
        cursor.advance(sorted.slice(from, from + size).map(row), 0)
      const last = sorted.at(-1) ?? 10
      const all = Array.from({ length: last - 10 }, (_, i) => i + 11)
      expect([...cursor.holes(), ...sorted].sort((a, b) => a - b)).toEqual(all)
      expect(cursor.last().seq).toBe(last)
    }),
  )
})
