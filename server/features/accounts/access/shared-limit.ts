// A sliding window that several processes share in PostgreSQL: one statement with the database's clock and a row
// lock. The row has the times of the window in order, as milliseconds since its own start: a quarter of the bytes of
// microseconds in decimal, and a binary search (`width_bucket`) instead of a scan.

import { type RawBuilder, sql } from 'kysely'
import { WINDOW_MS, type WindowResult } from '../../../lib/sliding-window.ts'
import type { Database } from '../../../storage/database/open-database.ts'

/** The time of this evaluation. A statement waits for the row's lock before its update is evaluated. */
const CLOCK = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** A row that is used for longer gets a new moment (12 days). No window is longer, and no number exceeds 2^31. */
const OFFSET_MAX = 2 ** 30

interface LimitRow {
  /** The place in the batch, from 1. */
  place: number
  allowed: number
  size: number
  /** Milliseconds since the row's moment, as are the next two. */
  at: number
  first: number
  /** The time that must leave the window before the next one is allowed. */
  blocking: number
}

type Reader = Pick<Database, 'read'>

export interface LimitedCall {
  key: string
  limit: number
  windowMs?: number
}

/**
 * Counts one of each call, unless the limit is reached. Drops times that are older than the window, and times in the future:
 * after the clock was set back, nobody must stay locked out.
 * @returns the results in the order of the calls
 */
export const takeShared = ({ read }: Reader, calls: LimitedCall[]): Promise<WindowResult[]> =>
  askByKey(calls, toResult, async (sorted) => {
    const { rows } = await sql<LimitRow>`
      select place, taken.* from unnest(
        ${sorted.map(({ key }) => key)}::text[],
        ${sorted.map(({ limit }) => limit)}::integer[],
        ${sorted.map(({ windowMs = WINDOW_MS }) => windowMs)}::integer[]
      ) with ordinality as calls(key, most, window_ms, place), take_one(key, most, window_ms) as taken`.execute(
      read,
    )
    return rows
  })

/**
 * Asks for several keys in one statement. All such statements lock their rows in the order of the keys, so no two of them wait
 * for each other.
 * @param ask returns a row for each call, with its place in `sorted`, from 1
 * @returns the results in the order of the calls
 */
export async function askByKey<Call extends { key: string }, Row extends { place: number }, Result>(
  calls: Call[],
  toResult: (row: Row, call: Call) => Result,
  ask: (sorted: Call[]) => Promise<Row[]>,
): Promise<Result[]> {
  const sorted = calls.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  const rows = await ask(sorted)
  if (rows.length !== calls.length)
    throw new Error('a statement of limits did not return a row for each call')
  const results = new Map<Call, Result>()
  for (const row of rows) {
    const call = sorted[row.place - 1] as Call
    results.set(call, toResult(row, call))
  }
  return calls.map((call) => results.get(call) as Result)
}

const toResult = (row: LimitRow, { limit, windowMs = WINDOW_MS }: LimitedCall): WindowResult => ({
  allowed: row.allowed === 1,
  remaining: Math.max(0, limit - row.size),
  waitMs: row.size < limit ? 0 : Math.max(0, row.blocking + windowMs - row.at),
  resetMs: Math.max(0, row.first + windowMs - row.at),
})

/** The count in the current window. */
export async function countShared({ read }: Reader, key: string, windowMs = WINDOW_MS): Promise<number> {
  const { rows } = await sql<{ used: number }>`
    select newest - oldest as used from rate_limits as w, lateral (${toWindow(windowMs)}) as found
    where key = ${key}`.execute(read)
  return rows[0]?.used ?? 0
}

/** Removes the newest one. */
export async function refundShared({ read }: Reader, key: string): Promise<void> {
  await sql`update rate_limits set hits = hits[1 : cardinality(hits) - 1]
    where key = ${key} and cardinality(hits) > 0`.execute(read)
}

/**
 * The times of the row `w` with the two ends of the window in them. `offset 0` makes PostgreSQL read its clock once: it
 * would copy the expression to each use.
 */
const toWindow = (windowMs: number): RawBuilder<unknown> => sql`
  select moved, at, kept, width_bucket(at - ${windowMs}::int, kept) as oldest, width_bucket(at, kept) as newest
  from (
    select moved, (late - moved)::int as at, case when moved = 0 then w.hits else array(
      select (hit - moved)::int from unnest(w.hits) as hit where hit - moved > -${OFFSET_MAX}::bigint and hit <= late
      order by hit
    ) end as kept
    from (
      select late, case when abs(late) < ${OFFSET_MAX}::bigint then 0 else late end as moved
      from (select ${CLOCK} - w.since as late offset 0) as clock offset 0
    ) as moves offset 0
  ) as times offset 0`
