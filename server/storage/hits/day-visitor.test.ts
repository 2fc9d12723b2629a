import { expect, test } from 'bun:test'
import { toStoredVisitor } from './day-visitor.ts'

const DAY = 24 * 60 * 60 * 1000
const MAX = '18446744073709551615'
const hex = (visitor: string, at: number) =>
  BigInt(toStoredVisitor(visitor, at)).toString(16).padStart(16, '0')

test.each([
  ['the first day', MAX, 0, '0000ffffffffffff'],
  ['its last millisecond', MAX, DAY - 1, '0000ffffffffffff'],
  ['the second day', MAX, DAY, '0001ffffffffffff'],
  ['a day in 2026', '1311768467463790320', Date.parse('2026-06-10T23:59:59.999Z'), '508656789abcdef0'],
  ['the day after it', '1311768467463790320', Date.parse('2026-06-11'), '508756789abcdef0'],
  ['the last day that 16 bits have', MAX, 65_535 * DAY, 'ffffffffffffffff'],
  ['the day after it', MAX, 65_536 * DAY, '0000ffffffffffff'],
])('a stored visitor has 48 bits of the hash below 16 bits of the day: %s', (_, visitor, at, expected) => {
  expect(hex(visitor, at)).toBe(expected)
})

test('a stored visitor stays the same, and nobody stays nobody', () => {
  for (const at of [0, DAY * 20_000 + 5, Number.MAX_SAFE_INTEGER])
    for (const visitor of [MAX, '1', '0', '281474976710656']) {
      const stored = toStoredVisitor(visitor, at)
      expect(toStoredVisitor(stored, at)).toBe(stored)
    }
  expect(toStoredVisitor('0', DAY * 20_000)).toBe('0')
})
