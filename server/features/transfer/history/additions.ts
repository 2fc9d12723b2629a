// Sums up what the clicks of a chunk add to links and days.

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { AgedClicks, DayAddition, HistoryChunk } from './messages.ts'

export type Additions = Pick<HistoryChunk, 'clicks' | 'firstAt' | 'days' | 'aged'>

export interface AdditionCounter {
  add(linkId: number, at: number, isPerson: boolean): void
  /** Pairs of link and day. */
  countDays(): number
  list(): Additions
}

/** @param since clicks before this moment are past their retention */
export function createAdditions(since: number): AdditionCounter {
  const days = new Map<number, Map<number, DayAddition>>()
  const aged = new Map<number, AgedClicks>()
  let firstAt = Number.POSITIVE_INFINITY
  let [clicks, pairs] = [0, 0]

  function countDay(linkId: number, at: number, isPerson: boolean) {
    const day = Math.floor(at / DAY_MS)
    const ofLink = days.get(linkId) ?? new Map<number, DayAddition>()
    if (ofLink.size === 0) days.set(linkId, ofLink)
    const addition = ofLink.get(day)
    if (!addition) {
      pairs++
      ofLink.set(day, [linkId, day, 1, isPerson ? 1 : 0, isPerson ? at : 0])
      return
    }
    addition[2]++
    if (!isPerson) return
    addition[3]++
    addition[4] = Math.max(addition[4], at)
  }

  function countAged(linkId: number, at: number) {
    const known = aged.get(linkId)
    if (known) {
      known[1]++
      known[2] = Math.max(known[2], at)
    } else aged.set(linkId, [linkId, 1, at])
  }

  return {
    add(linkId, at, isPerson) {
      clicks++
      firstAt = Math.min(firstAt, at)
      countDay(linkId, at, isPerson)
      if (isPerson && at < since) countAged(linkId, at)
    },
    countDays: () => pairs,
    list: () => ({
      clicks,
      firstAt: clicks === 0 ? null : firstAt,
      days: [...days.values()].flatMap((ofLink) => [...ofLink.values()]),
      aged: [...aged.values()],
    }),
  }
}
