// Counts the origins of answers (roll-ups, hits, or both), and the UTC days of answers: days from roll-ups, and days whose
// hits were read.

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { OriginPart } from '../../../storage/hits/rollups/answer-origin.ts'
import { toDay } from '../../../storage/hits/rollups/rollup.ts'

/** Counts of questions and of their days. */
export type QuestionOrigins = Record<
  'fromRollUps' | 'fromBoth' | 'fromHits' | 'rolledUpDays' | 'hitDays',
  number
>

export const NO_QUESTIONS: QuestionOrigins = {
  fromRollUps: 0,
  fromBoth: 0,
  fromHits: 0,
  rolledUpDays: 0,
  hitDays: 0,
}

/** @returns the counts with one more question */
export function addQuestion(
  counts: QuestionOrigins,
  origin: readonly OriginPart[],
  now: number,
): QuestionOrigins {
  const isRolled = origin.some(({ from }) => from !== 'hits')
  const isRaw = origin.some(({ from, why }) => from === 'hits' && why !== 'no_hits')
  const kind = !isRolled ? 'fromHits' : isRaw ? 'fromBoth' : 'fromRollUps'
  const { rolledUp, hits } = countOriginDays(origin, now)
  return {
    ...counts,
    [kind]: counts[kind] + 1,
    rolledUpDays: counts.rolledUpDays + rolledUp,
    hitDays: counts.hitDays + hits,
  }
}

export interface OriginDays {
  rolledUp: number
  /** Days whose hits were read. */
  hits: number
}

/** Days without hits are not counted. @param parts in order, without gaps */
export function countOriginDays(parts: readonly OriginPart[], now: number): OriginDays {
  const tomorrow = (toDay(now) + 1) * DAY_MS
  let [all, hits] = [0, 0]
  // A day that two parts share counts once.
  let [nextDay, nextHitDay] = [-Infinity, -Infinity]
  for (const { start, from, end: partEnd, why } of parts) {
    if (why === 'no_hits') continue
    const end = Math.min(partEnd, tomorrow)
    if (start >= end) continue
    const after = toDay(end - 1) + 1
    all += Math.max(0, after - Math.max(toDay(start), nextDay))
    nextDay = Math.max(nextDay, after)
    if (from !== 'hits') continue
    hits += Math.max(0, after - Math.max(toDay(start), nextHitDay))
    nextHitDay = after
  }
  return { rolledUp: all - hits, hits }
}
