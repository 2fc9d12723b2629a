// Retention of hits: the operator's HIT_RETENTION_DAYS.

import { DAY_MS } from '../../lib/utc-day.ts'

/** Returns the time before which hits are past a retention of this many days; 0 without a retention. */
export const toRetentionStart = (now: number, days: number | undefined) =>
  days === undefined ? 0 : Math.max(0, now - days * DAY_MS)
