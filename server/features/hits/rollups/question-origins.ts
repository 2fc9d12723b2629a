// Counts the origins of answers: roll-ups, hits, or both.

import type { OriginPart } from '../../../storage/hits/rollups/answer-origin.ts'
import { countOriginDays } from './origin-days.ts'

/** Counts of questions, and of the days that they asked for. */
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
