import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSlidingBudgets } from './sliding-budget.ts'

function open(budget: number) {
  let now = 0
  const budgets = createSlidingBudgets({ windowMs: 60_000, clock: () => now })
  return {
    at(ms: number) {
      now = ms
      return this
    },
    spend: (bytes: number, key = 'a') => budgets.spend(key, bytes, budget),
  }
}

describe('a budget of bytes in a window', () => {
  test('is used up by few large requests or many small ones, for each key by itself', () => {
    const budget = open(100)
    expect(budget.spend(60).allowed).toBe(true)
    expect(budget.spend(41).allowed).toBe(false)
    expect(budget.spend(40).allowed).toBe(true)
    expect(budget.spend(1).allowed).toBe(false)
    expect(budget.spend(100, 'b').allowed).toBe(true)
  })

  test('says when there is room again', () => {
    const budget = open(100)
    budget.at(1000).spend(50)
    budget.at(20_000).spend(50)
    const { allowed, waitMs } = budget.at(30_000).spend(50)
    expect(allowed).toBe(false)
    expect(waitMs).toBeGreaterThan(31_000)
    expect(budget.at(30_000 + waitMs - 1).spend(50).allowed).toBe(false)
    expect(budget.at(30_000 + waitMs).spend(50).allowed).toBe(true)
  })

  test('refuses what is larger than the budget, for a window', () => {
    expect(open(100).spend(101)).toEqual({ allowed: false, waitMs: 60_000 })
  })

  test('holds for any arrivals in any window', () => {
    const arrival = fc.record({
      after: fc.integer({ min: 0, max: 40_000 }),
      bytes: fc.integer({ min: 0, max: 80 }),
    })
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 60 }), (arrivals) => {
        const budget = open(100)
        const spent: { at: number; bytes: number }[] = []
        let now = 0
        for (const { after, bytes } of arrivals) {
          now += after
          if (budget.at(now).spend(bytes).allowed) spent.push({ at: now, bytes })
          const inWindow = spent
            .filter(({ at }) => at > now - 60_000)
            .reduce((sum, each) => sum + each.bytes, 0)
          expect(inWindow).toBeLessThanOrEqual(100)
        }
      }),
    )
  })
})
