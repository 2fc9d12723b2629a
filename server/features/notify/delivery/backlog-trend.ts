// Judges whether a channel falls behind, or has caught up. Pure.

import { COUNTED_MAX, type WaitingDeliveries } from '../outbox/waiting-deliveries.ts'

/** A channel is late while its oldest due delivery is older. A receiver that was away for a moment is not. */
const LATE_MS = 60_000
/** Checks in a row that a beginning and an end both need, so that neither comes and goes. */
const CHECKS = 3

/** The results of the last checks, oldest first: at most one more than CHECKS. */
export type BacklogTrend = { due: number; late: boolean }[]

export function extendTrend(
  trend: BacklogTrend,
  { due, oldestDue }: WaitingDeliveries,
  now: number,
): BacklogTrend {
  const late = oldestDue !== null && now - oldestDue > LATE_MS
  return [...trend, { due, late }].slice(-CHECKS - 1)
}

/** The channel was late in the last three checks, and more is due than at the check before them. */
export function isFallingBehind(trend: BacklogTrend): boolean {
  const [before, ...last] = trend
  const newest = last.at(-1)
  if (!before || !newest || last.length < CHECKS) return false
  const grows = newest.due > before.due || newest.due >= COUNTED_MAX
  return grows && last.every(({ late }) => late)
}

export const hasCaughtUp = (trend: BacklogTrend): boolean =>
  trend.length >= CHECKS && trend.slice(-CHECKS).every(({ late }) => !late)
