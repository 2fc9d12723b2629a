import { expect, test } from 'bun:test'
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
