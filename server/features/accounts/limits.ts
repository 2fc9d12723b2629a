// The plan's requests per minute: in memory on one machine, in PostgreSQL when several processes share them.

import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { slidingWindows, type Taken, WINDOW_MS } from '../../lib/sliding-window.ts'
import type { Rows } from '../../storage/rows/open.ts'

export interface RateLimiter {
  /** @param windowMs a minute where it is not said; a key has one window for ever */
  take(key: string, limit: number, windowMs?: number): Taken | Promise<Taken>
  /** How many of the key count at the moment. */
  used(key: string, windowMs?: number): number | Promise<number>
  /** Takes back the newest one of the key: only failures are counted where a success says so. */
  giveBack(key: string, windowMs?: number): void | Promise<void>
}

/** What the requests of a workspace's keys are counted by. */
export const apiLimitKey = (workspaceId: number) => `api:${workspaceId}`

/**
 * @param clock monotonic milliseconds, for the limits kept in memory
 * @param secret hides what the keys of the shared limits say: some hold an address, and no address is kept
 */
export function openLimiter(rows: Rows, clock?: () => number, secret?: string): RateLimiter {
  if (rows.engine !== 'postgres') return inMemory(clock)
  const shared = sharedLimiter(rows)
  if (secret === undefined) return shared
  const hidden = (key: string) =>
    createHmac('sha256', secret).update(`towpath rate limit ${key}`).digest('base64url')
  return {
    take: (key, limit, windowMs) => shared.take(hidden(key), limit, windowMs),
    used: (key, windowMs) => shared.used(hidden(key), windowMs),
    giveBack: (key) => shared.giveBack(hidden(key)),
  }
}

function inMemory(clock?: () => number): RateLimiter {
  const byWindow = new Map<number, ReturnType<typeof slidingWindows>>()
  const windows = (windowMs = WINDOW_MS) => {
    const found = byWindow.get(windowMs) ?? slidingWindows({ windowMs, clock })
    byWindow.set(windowMs, found)
    return found
  }
  return {
    take: (key, limit, windowMs) => windows(windowMs).take(key, limit),
    used: (key, windowMs) => windows(windowMs).used(key),
    giveBack: (key, windowMs) => windows(windowMs).giveBack(key),
  }
}

/**
 * One statement and the database's clock: the row's lock makes it exact between processes. The window is a list of
 * microseconds; the statement drops what is older than the window and adds now if there is room. What lies in the
 * future goes too: when that clock is set back, nobody must be locked out until it has caught up.
 */
function sharedLimiter(rows: Rows): RateLimiter {
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
          hits[cardinality(hits) - ${limit}::int + 1] as blocking`.execute(rows.read)
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
    async used(key, windowMs = WINDOW_MS) {
      const { rows: answer } = await sql<{ used: number }>`
        select count(*)::int as used from rate_windows, unnest(hits) as h
        where key = ${key} and h > ${clock} - ${windowMs * 1000}::bigint and h <= ${clock}`.execute(rows.read)
      return answer[0]?.used ?? 0
    },
    async giveBack(key) {
      await sql`
        update rate_windows set hits = hits[1:cardinality(hits) - 1]
        where key = ${key} and cardinality(hits) > 0`.execute(rows.read)
    },
  }
}

/** Windows in which nothing is counted any more say nothing any more. */
export async function forgetOldWindows(rows: Rows, now: number): Promise<void> {
  if (rows.engine !== 'postgres') return
  await rows.write((db) => db.deleteFrom('rate_windows').where('expires_at', '<', now).execute())
}
