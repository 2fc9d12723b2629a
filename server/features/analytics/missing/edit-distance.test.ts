import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { countEdits } from './edit-distance.ts'

const count = (a: string, b: string, max = 10) => countEdits(Array.from(a), Array.from(b), max)

test('counts characters that are added, left out, replaced or swapped', () => {
  for (const [a, b, edits] of [
    ['sale', 'sale', 0],
    ['sale', 'sal', 1],
    ['sale', 'saale', 1],
    ['sale', 'sake', 1],
    ['sale', 'slae', 1],
    ['slae', 'salee', 2],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
    ['', 'abc', 3],
    ['🎉x', '🎈x', 1],
  ] as const) {
    expect([a, b, count(a, b)]).toEqual([a, b, edits])
    expect([b, a, count(b, a)]).toEqual([b, a, edits])
  }
})

test('stops counting above the bound, and gives the same answer below it', () => {
  const letters = 'abc'
  const texts = Array.from({ length: 120 }, (_, n) =>
    Array.from({ length: n % 6 }, (_, i) => letters[(n * 7 + i * i * 5 + ((n >> i) & 3)) % 3]).join(''),
  )
  for (const a of texts) {
    for (const b of texts) {
      const edits = count(a, b)
      for (const max of [0, 1, 2, 3]) expect(count(a, b, max)).toBe(Math.min(edits, max + 1))
    }
  }
})

/** The whole matrix of the definition. */
function countAll(a: string[], b: string[]): number {
  const rows: number[][] = []
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 0; i <= a.length; i++) {
    rows[i] = []
    for (let j = 0; j <= b.length; j++) {
      const equal = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const edits = Math.min(
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
        at(i - 1, j - 1) + (equal ? 0 : 1),
        isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
      )
      ;(rows[i] as number[])[j] = i + j === 0 ? 0 : edits
    }
  }
  return at(a.length, b.length)
}

test('agrees with the definition', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
  fc.assert(
    fc.property(text, text, fc.integer({ min: 0, max: 13 }), (a, b, max) => {
      expect(countEdits(a, b, max)).toBe(Math.min(countAll(a, b), max + 1))
    }),
    { numRuns: 3_000 },
  )
})
