// Prevents strangers from filling the disk: long texts are limited, and on a nearly full disk one hit in ten is recorded. A
// redirect never waits for this and never fails because of it.

import { toRateLimitKey } from '../../../http/client-address.ts'
import { createSlidingBudgets } from '../../../lib/sliding-budget.ts'
import type { DiskSpace } from '../../../storage/disk-space.ts'
import type { RawHit } from './raw-hit.ts'
import type { Spool } from './spool.ts'

export interface SpoolGuardNeeds {
  spool: Spool
  disk: Pick<DiskSpace, 'isLow'>
  /** Monotonic milliseconds. */
  clock?: () => number
}

export interface SpoolGuardStats {
  /** Hits that were left out because the disk is low. */
  leftOut: number
  /** Hits that were recorded without their campaign and referrer. */
  shortened: number
}

export interface SpoolGuard extends Spool {
  guardStats(): SpoolGuardStats
}

/** While the disk is low, one hit in this many is recorded. */
const ONE_IN = 10

/** Campaign and referrer of usual clicks have fewer characters together, so these need no look-up. */
const LONG = 512
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** About a thousand clicks a minute with long texts, for example of an office, or of a proxy that is not in TRUST_PROXY. */
const ADDRESS_BUDGET = 1024 * 1024
const WORKSPACE_BUDGET = 256 * 1024 * 1024

export function createSpoolGuard({ spool, disk, clock }: SpoolGuardNeeds): SpoolGuard {
  const addresses = createSlidingBudgets({ windowMs: MINUTE_MS, clock })
  const workspaces = createSlidingBudgets({ windowMs: HOUR_MS, clock })
  const stats: SpoolGuardStats = { leftOut: 0, shortened: 0 }
  let lowHits = 0

  function fitsBudgets({ address, workspaceId }: RawHit, size: number): boolean {
    return (
      addresses.spend(toRateLimitKey(address), size, ADDRESS_BUDGET).allowed &&
      workspaces.spend(String(workspaceId), size, WORKSPACE_BUDGET).allowed
    )
  }

  return {
    ...spool,
    append(raw) {
      if (disk.isLow() && lowHits++ % ONE_IN !== 0) {
        stats.leftOut++
        return 0
      }
      const size = raw.query.length + raw.referrer.length
      if (size <= LONG || fitsBudgets(raw, size)) return spool.append(raw)
      stats.shortened++
      return spool.append({ ...raw, query: '', referrer: '' })
    },
    guardStats: () => ({ ...stats }),
  }
}
