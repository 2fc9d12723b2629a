// The statement of a plan reads few blocks of hits, whatever spans the plan leaves over.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { DaySpan } from './plan-days.ts'
import { groupNearSpans } from './rolled-sql.ts'

const toSpans = (starts: number[]): DaySpan[] => starts.map((start) => ({ start, end: start + 1 }))
const spans = fc
  .uniqueArray(fc.nat({ max: 500 }), { maxLength: 20 })
  .map((starts) => toSpans(starts.map((start) => start * 2).sort((a, b) => a - b)))
const toGap = (left: DaySpan, right: DaySpan) => right.start - left.end

test('an old day and today are two groups', () => {
  expect(groupNearSpans(toSpans([1, 900]))).toEqual([toSpans([1]), toSpans([900])])
})

test('many days are four groups, which lie far apart', () => {
  expect(groupNearSpans(toSpans([1, 3, 100, 105, 107, 400, 900, 903]))).toEqual([
    toSpans([1, 3]),
    toSpans([100, 105, 107]),
    toSpans([400]),
    toSpans([900, 903]),
  ])
})

test('each span is in one group, and no gap inside a group is wider than one between groups', () => {
  fc.assert(
    fc.property(spans, (all) => {
      const groups = groupNearSpans(all)
      expect(groups.flat()).toEqual(all)
      expect(groups.length).toBe(Math.min(4, all.length))
      const inside = groups.flatMap((group) =>
        group.slice(1).map((span, n) => toGap(group[n] as DaySpan, span)),
      )
      const between = groups
        .slice(1)
        .map((group, n) => toGap(groups[n]?.at(-1) as DaySpan, group[0] as DaySpan))
      expect(Math.max(0, ...inside)).toBeLessThanOrEqual(Math.min(Infinity, ...between))
    }),
  )
})
