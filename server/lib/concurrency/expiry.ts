// Expiry of cache entries. They do not expire while this process follows the changes of other processes.

export interface Freshness {
  /** Lifetime of an entry while changes are not followed; undefined if no other process changes anything. */
  timeToLiveMs?: number
  /** Other processes' changes committed before this time (on `clock`) have invalidated their entries. */
  followedUntil?: () => number
  /** Monotonic milliseconds. */
  clock?: () => number
}

export interface Expiry {
  /** The expiry of a new entry; used only while changes are not followed. */
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
