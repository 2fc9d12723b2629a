// Figures of splits, and the promise that equal variants have no winner.

import { describe, expect } from 'bun:test'
import { quick } from '../../../tests/support/suite.ts'
import { findBest, toInterval, toLogEvidence, type VariantCounts } from './compare-variants.ts'

/** A generator of its own (mulberry32), so that the same splits are simulated each time. */
function createRandom(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** A split that somebody looks at every day. @returns the winner of the first day that has one */
function simulate(rates: number[], days: number, clicksADay: number, random: () => number) {
  const counts: VariantCounts[] = rates.map(() => ({ clicks: 0, leads: 0 }))
  for (let day = 0; day < days; day++) {
    for (let click = 0; click < clicksADay; click++) {
      const index = Math.floor(random() * rates.length)
      const variant = counts[index] as VariantCounts
      variant.clicks++
      if (random() < (rates[index] as number)) variant.leads++
    }
    const best = findBest(counts)
    if (best !== undefined) return best
  }
  return undefined
}

describe('a split', () => {
  quick('of equal variants has a winner in at most 5 % of splits, also when somebody looks every day', () => {
    const random = createRandom(7)
    for (const [variants, rate] of [
      [2, 0.05],
      [2, 0.5],
      [4, 0.1],
    ] as const) {
      const splits = 300
      let wrong = 0
      for (let n = 0; n < splits; n++)
        if (simulate(Array(variants).fill(rate), 30, 60, random) !== undefined) wrong++
      expect(wrong / splits).toBeLessThanOrEqual(0.05)
    }
  })

  quick('with a variant that is better finds it', () => {
    const random = createRandom(8)
    const winners = Array.from({ length: 40 }, () => simulate([0.05, 0.15], 60, 100, random))
    expect(winners.filter((winner) => winner === 1).length).toBeGreaterThan(36)
  })

  quick('of few clicks is too early to tell', () => {
    expect(
      findBest([
        { clicks: 0, leads: 0 },
        { clicks: 0, leads: 0 },
      ]),
    ).toBeUndefined()
    expect(
      findBest([
        { clicks: 3, leads: 0 },
        { clicks: 3, leads: 3 },
      ]),
    ).toBeUndefined()
    expect(
      findBest([
        { clicks: 40, leads: 2 },
        { clicks: 40, leads: 20 },
      ]),
    ).toBe(1)
    expect(
      findBest([
        { clicks: 40, leads: 20 },
        { clicks: 40, leads: 20 },
      ]),
    ).toBeUndefined()
    // A click that brought several leads counts once.
    expect(
      findBest([
        { clicks: 1, leads: 500 },
        { clicks: 1, leads: 0 },
      ]),
    ).toBeUndefined()
  })

  quick(
    'has evidence that is a probability: over all outcomes of a few clicks it averages to at most 1',
    () => {
      const rate = 0.3
      const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k)
      let mean = 0
      for (let a = 0; a <= 6; a++)
        for (let b = 0; b <= 9; b++) {
          const chance = choose(6, a) * choose(9, b) * rate ** (a + b) * (1 - rate) ** (15 - a - b)
          mean += chance * Math.exp(toLogEvidence({ clicks: 6, leads: a }, { clicks: 9, leads: b }))
        }
      expect(mean).toBeLessThanOrEqual(1)
    },
  )

  quick('has intervals as published', () => {
    // Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3.
    const { low, high } = toInterval({ clicks: 263, leads: 81 }) ?? { low: 0, high: 0 }
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.2553', '0.3662'])
    expect(toInterval({ clicks: 0, leads: 0 })).toBeNull()
    expect(toInterval({ clicks: 20, leads: 0 })?.high.toFixed(4)).toBe('0.1611')
  })
})
