// Spares a receiver that is away. After five failures in a row the deliverer tries only the oldest due delivery of the
// channel, now and then, so that the thousands behind it neither load the receiver nor use up their attempts.
// The state is in memory: after a restart, five attempts find out again.

import { DAY_MS } from '../../../lib/utc-day.ts'

const FAILURES = 5
const FIRST_MS = 5_000
/** The longest time that a delivery waits after its receiver is back. */
const LONGEST_MS = 5 * 60_000

export function createCircuitBreaker() {
  const failing = new Map<number, { failures: number; probeAt: number }>()
  return {
    recordFailure(channelId: number, at: number) {
      const failures = (failing.get(channelId)?.failures ?? 0) + 1
      const wait = Math.min(FIRST_MS * 2 ** (failures - FAILURES), LONGEST_MS)
      failing.set(channelId, { failures, probeAt: failures < FAILURES ? at : at + wait })
    },
    /** The channel works again, or somebody asks to try it at once. */
    reset(channelId: number) {
      failing.delete(channelId)
    },
    /** The ids of the channels that must not be tried at this time. */
    listPaused(at: number): number[] {
      for (const [id, { probeAt }] of failing) if (probeAt < at - DAY_MS) failing.delete(id)
      // A probe that is further away was planned before the clock was set back.
      const isWaiting = (probeAt: number) => probeAt > at && probeAt <= at + LONGEST_MS
      return [...failing].filter(([, { probeAt }]) => isWaiting(probeAt)).map(([id]) => id)
    },
  }
}
