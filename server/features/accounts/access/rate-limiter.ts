// The plan's requests per minute: in memory on one machine, in PostgreSQL when several processes share them.

import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { createSlidingWindows, WINDOW_MS, type WindowResult } from '../../../lib/sliding-window.ts'
import type { Database } from '../../../storage/database/open-database.ts'

export interface RateLimiter {
  /** @param windowMs a minute where it is not said; a key has one window for ever */
  take(key: string, limit: number, windowMs?: number): WindowResult | Promise<WindowResult>
  /** How many of the key count at the moment. */
  count(key: string, windowMs?: number): number | Promise<number>
  /** Takes back the newest one of the key: only failures are counted where a success says so. */
  refund(key: string, windowMs?: number): void | Promise<void>
}

/** What the requests of a workspace's keys are counted by. */
export const toApiLimitKey = (workspaceId: number) => `api:${workspaceId}`

/**
 * @param clock monotonic milliseconds, for the limits kept in memory
 * @param secret hides what the keys of the shared limits say: some hold an address, and no address is kept
 */
export function createRateLimiter(db: Database, clock?: () => number, secret?: string): RateLimiter {
  if (db.engine !== 'postgres') return createMemoryLimiter(clock)
  const shared = createSharedLimiter(db)
  if (secret === undefined) return shared
  const hidden = (key: string) =>
    createHmac('sha256', secret).update(`towpath rate limit ${key}`).digest('base64url')
  return {
    take: (key, limit, windowMs) => shared.take(hidden(key), limit, windowMs),
    count: (key, windowMs) => shared.count(hidden(key), windowMs),
    refund: (key) => shared.refund(hidden(key)),
  }
}

function createMemoryLimiter(clock?: () => number): RateLimiter {
  const byWindow = new Map<number, ReturnType<typeof createSlidingWindows>>()
  const windows = (windowMs = WINDOW_MS) => {
    const found = byWindow.get(windowMs) ?? createSlidingWindows({ windowMs, clock })
    byWindow.set(windowMs, found)
    return found
  }
  return {
    take: (key, limit, windowMs) => windows(windowMs).take(key, limit),
    count: (key, windowMs) => windows(windowMs).used(key),
    refund: (key, windowMs) => windows(windowMs).refund(key),
  }
}

/**
 * One statement and the database's clock: the row's lock makes it exact between processes. The window is a list of
 * microseconds; the statement drops what is older than the window and adds now if there is room. What lies in the
 * future goes too: when that clock is set back, nobody must be locked out until it has caught up.
 */
function createSharedLimiter(db: Database): RateLimiter {
  const clock = sql`(extract(epoch from clock_timestamp()) * 1000000)::bigint`
  return {
    async take(key, limit, windowMs = WINDOW_MS) {
      const windowUs = windowMs * 1000
      const live = sql`(select coalesce(array_agg(h order by h), '{}') from unnest(w.hits) h where h > ${clock} - ${windowUs}::bigint and h <= ${clock})`
      const { rows: answer } = await sql<{
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
      const row = answer[0]
      if (!row) throw new Error('the rate limit statement returned no row')
      const leavesMs = (at: number) => Math.max(0, (at + windowUs - row.now) / 1000)
      return {
        allowed: row.allowed === 1,
        remaining: Math.max(0, limit - row.size),
        waitMs: row.size < limit ? 0 : leavesMs(row.blocking),
        resetMs: leavesMs(row.first),
      }
    },
    async count(key, windowMs = WINDOW_MS) {
      const { rows: answer } = await sql<{ used: number }>`
        select count(*)::int as used from rate_windows, unnest(hits) as h
        where key = ${key} and h > ${clock} - ${windowMs * 1000}::bigint and h <= ${clock}`.execute(db.read)
      return answer[0]?.used ?? 0
    },
    async refund(key) {
      await sql`
        update rate_windows set hits = hits[1:cardinality(hits) - 1]
        where key = ${key} and cardinality(hits) > 0`.execute(db.read)
    },
  }
}

/** Windows in which nothing is counted any more say nothing any more. */
export async function pruneRateWindows(db: Database, now: number): Promise<void> {
  if (db.engine !== 'postgres') return
  await db.write((connection) =>
    connection.deleteFrom('rate_windows').where('expires_at', '<', now).execute(),
  )
}
