// Expiry of cache entries: none while this process follows the changes of other processes, and short while it does not.

export interface Freshness {
  /** How long an entry holds while nobody follows the changes; undefined where no other process changes anything. */
  timeToLiveMs?: number
  /** Every change that another process committed before this moment, on `clock`, has voided its entry. */
  followedUntil?: () => number
  /** Monotonic milliseconds. */
  clock?: () => number
}

export interface Expiry {
  /** When an entry of this moment expires, unless changes are followed. */
  next(): number
  isCurrent(entry: { until: number }): boolean
}

export function createExpiry({
  timeToLiveMs,
  followedUntil = () => Number.NEGATIVE_INFINITY,
  clock = () => performance.now(),
}: Freshness): Expiry {
  if (timeToLiveMs === undefined) return { next: () => Number.POSITIVE_INFINITY, isCurrent: () => true }
  return {
    next: () => clock() + timeToLiveMs,
    isCurrent({ until }) {
      const now = clock()
      return now < followedUntil() + timeToLiveMs || now < until
    },
  }
}
