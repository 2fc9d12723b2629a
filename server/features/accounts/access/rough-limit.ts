// A limit that several processes share at little cost: a process takes a share of it at once, and spends the share in
// memory. It is off by at most one share for each process.

import { createGenerations } from '../../../lib/generations.ts'
import type { BudgetResult } from '../../../lib/sliding-budget.ts'
import { toShortKey, WINDOW_MS } from '../../../lib/sliding-window.ts'
import { copyText } from '../../../lib/text.ts'

/** One request in 30 asks the database. */
export const SHARE = 30
/** After a refusal the database is asked again at most once in this time. */
const REFUSED_MS = 1_000
const KEYS_MAX = 20_000

interface Allowance {
  /** The rest of the share. */
  left: number
  /** The end of the share: a full window after the last use, old use no longer counts. */
  until: number
  refusal: { waitMs: number; until: number } | undefined
  /** The share that is being taken. */
  pending: Promise<void> | undefined
}

export type RoughTake = (key: string, limit: number) => Promise<BudgetResult>

/** @param spend takes a share from the limit that all processes share */
export function createRoughLimiter(
  spend: (key: string, count: number, limit: number) => Promise<BudgetResult>,
  clock = () => performance.now(),
): RoughTake {
  const allowances = createGenerations<Allowance>({ entriesMax: KEYS_MAX / 2 })

  function getAllowance(key: string): Allowance {
    const known = allowances.get(toShortKey(key))
    if (known) return known
    const fresh: Allowance = { left: 0, until: 0, refusal: undefined, pending: undefined }
    allowances.set(copyText(toShortKey(key)), fresh)
    return fresh
  }

  async function takeShare(allowance: Allowance, key: string, limit: number) {
    const { allowed, waitMs } = await spend(key, Math.min(SHARE, limit), limit)
    const now = clock()
    if (allowed) Object.assign(allowance, { left: Math.min(SHARE, limit), until: now + WINDOW_MS })
    else allowance.refusal = { waitMs, until: now + Math.min(waitMs, REFUSED_MS) }
  }

  return async (key, limit) => {
    const allowance = getAllowance(key)
    for (;;) {
      const now = clock()
      if (allowance.left > 0 && now < allowance.until) {
        allowance.left--
        return { allowed: true, waitMs: 0 }
      }
      const { refusal } = allowance
      if (refusal && now < refusal.until) return { allowed: false, waitMs: refusal.waitMs }
      // Requests at the same time share one share.
      allowance.pending ??= takeShare(allowance, key, limit).finally(() => {
        allowance.pending = undefined
      })
      await allowance.pending
    }
  }
}
