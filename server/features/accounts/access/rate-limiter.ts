// Limits how often something may happen in a sliding window, or how many bytes may come: in memory on one machine, in
// PostgreSQL when several processes share the limits.

import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { type BudgetResult, createSlidingBudgets } from '../../../lib/sliding-budget.ts'
import { createSlidingWindows, WINDOW_MS, type WindowResult } from '../../../lib/sliding-window.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { spendSharedBytes } from './shared-budget.ts'

export interface RateLimiter {
  /** Counts one, unless the limit is reached. @param windowMs a minute when absent; always the same for one key */
  take(key: string, limit: number, windowMs?: number): WindowResult | Promise<WindowResult>
  /** How many are in the window of the key now. */
  count(key: string, windowMs?: number): number | Promise<number>
  /** Removes the newest one of the key, for limits that count failures only. */
  refund(key: string, windowMs?: number): void | Promise<void>
}

export interface ByteLimiter {
  /** Counts so many bytes, unless the budget is used up. No key is used with `take` and `spend`. */
  spend(key: string, bytes: number, budget: ByteBudget): BudgetResult | Promise<BudgetResult>
}

export interface ByteBudget {
  bytes: number
  /** Always the same for one key. */
  windowMs: number
}

/** All keys of a workspace share one limit. */
export const toApiLimitKey = (workspaceId: number) => `api:${workspaceId}`

/**
 * @param clock monotonic milliseconds, for the limits kept in memory
 * @param secret of the HMAC that replaces the keys in the database: some keys contain an IP address, which is never
 * stored
 */
export function createRateLimiter(
  db: Database,
  clock?: () => number,
  secret?: string,
): RateLimiter & ByteLimiter {
  if (db.engine !== 'postgres') return createMemoryLimiter(clock)
  const shared = createSharedLimiter(db)
  if (secret === undefined) return shared
  const hashKey = (key: string) =>
    createHmac('sha256', secret).update(`towpath rate limit ${key}`).digest('base64url')
  return {
    take: (key, limit, windowMs) => shared.take(hashKey(key), limit, windowMs),
    count: (key, windowMs) => shared.count(hashKey(key), windowMs),
    refund: (key) => shared.refund(hashKey(key)),
    spend: (key, bytes, budget) => shared.spend(hashKey(key), bytes, budget),
  }
}

function createMemoryLimiter(clock?: () => number): RateLimiter & ByteLimiter {
  const byWindow = new Map<number, ReturnType<typeof createSlidingWindows>>()
  const budgetsByWindow = new Map<number, ReturnType<typeof createSlidingBudgets>>()
  const budgets = (windowMs: number) => {
    const known = budgetsByWindow.get(windowMs) ?? createSlidingBudgets({ windowMs, clock })
    budgetsByWindow.set(windowMs, known)
    return known
  }
  const windows = (windowMs = WINDOW_MS) => {
    const limits = byWindow.get(windowMs) ?? createSlidingWindows({ windowMs, clock })
    byWindow.set(windowMs, limits)
    return limits
  }
  return {
    take: (key, limit, windowMs) => windows(windowMs).take(key, limit),
    count: (key, windowMs) => windows(windowMs).count(key),
    refund: (key, windowMs) => windows(windowMs).refund(key),
    spend: (key, bytes, budget) => budgets(budget.windowMs).spend(key, bytes, budget.bytes),
  }
}

/**
 * Uses one statement and the database's clock. The row's lock makes the count exact between processes. The row has the
 * times of the window in microseconds. The statement drops times older than the window, and adds the current time when
 * there is room. It also drops times in the future: after the clock was set back, nobody must stay locked out.
 */
function createSharedLimiter(db: Database): RateLimiter & ByteLimiter {
  const clock = sql`(extract(epoch from clock_timestamp()) * 1000000)::bigint`
  return {
    async take(key, limit, windowMs = WINDOW_MS) {
      const windowUs = windowMs * 1000
      const live = sql`(select coalesce(array_agg(h order by h), '{}') from unnest(w.hits) h where h > ${clock} - ${windowUs}::bigint and h <= ${clock})`
      const { rows } = await sql<{
        allowed: number
        size: number
        now: number
        first: number
        blocking: number
      }>`
        insert into rate_windows as w (key, hits, allowed, expires_at)
        values (${key}, array[${clock}], 1, ${clock} / 1000 + ${windowMs}::bigint)
        on conflict (key) do update set
          hits = case when cardinality(${live}) < ${limit}::int then ${live} || ${clock} else ${live} end,
          allowed = case when cardinality(${live}) < ${limit}::int then 1 else 0 end,
          expires_at = ${clock} / 1000 + ${windowMs}::bigint
        returning allowed, cardinality(hits) as size, ${clock} as now, hits[1] as first,
          hits[cardinality(hits) - ${limit}::int + 1] as blocking`.execute(db.read)
      const row = rows[0]
      if (!row) throw new Error('the rate limit statement returned no row')
      const toWaitMs = (at: number) => Math.max(0, (at + windowUs - row.now) / 1000)
      return {
        allowed: row.allowed === 1,
        remaining: Math.max(0, limit - row.size),
        waitMs: row.size < limit ? 0 : toWaitMs(row.blocking),
        resetMs: toWaitMs(row.first),
      }
    },
    async count(key, windowMs = WINDOW_MS) {
      const { rows } = await sql<{ used: number }>`
        select count(*)::int as used from rate_windows, unnest(hits) as h
        where key = ${key} and h > ${clock} - ${windowMs * 1000}::bigint and h <= ${clock}`.execute(db.read)
      return rows[0]?.used ?? 0
    },
    async refund(key) {
      await sql`
        update rate_windows set hits = hits[1:cardinality(hits) - 1]
        where key = ${key} and cardinality(hits) > 0`.execute(db.read)
    },
    spend: (key, bytes, budget) => spendSharedBytes(db, key, bytes, budget),
  }
}

/** Deletes windows that have become empty. */
export async function pruneRateWindows(db: Database, now: number): Promise<void> {
  if (db.engine !== 'postgres') return
  await db.write((connection) =>
    connection.deleteFrom('rate_windows').where('expires_at', '<', now).execute(),
  )
}
