// Leaves a receiver alone that is away: after five failures one after the other only the oldest due delivery is tried,
// now and then, so that the thousands behind it neither knock nor use up their attempts.
// Kept in memory: whoever starts anew finds out with five attempts.

import { DAY_MS } from '../../../lib/utc-day.ts'

const FAILURES = 5
const FIRST_MS = 5_000
// The longest that anything waits after its receiver is back.
const LONGEST_MS = 5 * 60_000

export function createCircuitBreaker() {
  const broken = new Map<number, { failures: number; probeAt: number }>()
  return {
    failed(channelId: number, at: number) {
      const failures = (broken.get(channelId)?.failures ?? 0) + 1
      const wait = Math.min(FIRST_MS * 2 ** (failures - FAILURES), LONGEST_MS)
      broken.set(channelId, { failures, probeAt: failures < FAILURES ? at : at + wait })
    },
    /** It answers, or somebody says that it does. */
    mended(channelId: number) {
      broken.delete(channelId)
    },
    /** Whom to leave alone at this time. */
    resting(at: number): number[] {
      for (const [id, { probeAt }] of broken) if (probeAt < at - DAY_MS) broken.delete(id)
      return [...broken].filter(([, { probeAt }]) => probeAt > at).map(([id]) => id)
    },
  }
}
