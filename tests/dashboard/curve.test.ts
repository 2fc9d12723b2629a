// The lines of a chart: round numbers on its axis, and a curve that says nothing that the points do not say.

import { expect, test } from 'bun:test'
import { chooseTicks, toCurve } from '../../dashboard/ui/charts/curve.ts'
import { createRandom } from '../support/random.ts'

test.each([
  [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [96, [0, 20, 40, 60, 80, 100]],
  [1234, [0, 500, 1000, 1500]],
])('the axis up to %d has round numbers', (highest, ticks) => {
  expect(chooseTicks(highest)).toEqual(ticks)
})

test('the curve goes through its points, and between two of them it stays between them', () => {
  const random = createRandom('curve')
  for (let round = 0; round < 50; round++) {
    const xs = Array.from({ length: 2 + (round % 9) }, (_, index) => index * 30)
    const ys = xs.map(() => Math.floor(random() * 5) * 100)
    const [first, ...parts] = toCurve(xs, ys).split('C')
    expect(first).toBe(`M${xs[0]?.toFixed(1)},${ys[0]?.toFixed(1)}`)
    for (const [index, part] of parts.entries()) {
      const [, from, , to, x, y] = part.split(/[ ,]/).map(Number)
      expect([x, y]).toEqual([xs[index + 1], ys[index + 1]])
      // A cubic Bézier curve stays within its control points; the text has one decimal.
      const [low = 0, high = 0] = [ys[index] ?? 0, ys[index + 1] ?? 0].sort((a, b) => a - b)
      expect(from).toBeWithin(low - 0.1, high + 0.2)
      expect(to).toBeWithin(low - 0.1, high + 0.2)
    }
  }
})
