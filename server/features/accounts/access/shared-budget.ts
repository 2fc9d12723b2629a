// A budget of bytes that several processes share in PostgreSQL: one statement with the database's clock, and the lock of
// its row. The row has pairs of numbers, a slice of time and the bytes in it: see lib/sliding-budget.ts.

import { sql } from 'kysely'
import { type BudgetResult, decideBudget, SLICES } from '../../../lib/sliding-budget.ts'
import type { Database } from '../../../storage/database/open-database.ts'

/** @param budget see `ByteLimiter.spend` */
export async function spendSharedBytes(
  db: Pick<Database, 'read'>,
  key: string,
  bytes: number,
  budget: { bytes: number; windowMs: number },
): Promise<BudgetResult> {
  const sliceMs = budget.windowMs / SLICES
  // The time of the statement, because it must be the same in all its parts. A statement that waited for the row's lock
  // finds slices that began after it: they count. Slices further ahead are from before the clock was set back.
  const now = sql`(extract(epoch from statement_timestamp()) * 1000)::bigint`
  const slice = sql`(${now} / ${sliceMs}::bigint)`
  const pairs = sql`
    select w.hits[i] as slice, w.hits[i + 1] as bytes from generate_series(1, cardinality(w.hits), 2) as i
    where w.hits[i] between ${slice} - ${SLICES}::int and ${slice} + ${SLICES}::int`
  const toArray = (entries: typeof pairs) => sql`(
    select coalesce(array_agg(number order by slice, place), '{}') from (
      select slice, unnest(array[slice, bytes]) as number, unnest(array[0, 1]) as place from (
        select slice, sum(bytes)::bigint as bytes from (${entries}) as entries group by slice
      ) as slices
    ) as numbers)`
  const fits = sql`(select coalesce(sum(bytes), 0) from (${pairs}) as spent) + ${bytes}::bigint <= ${budget.bytes}::bigint`
  const added = sql`${pairs} union all select ${slice}, ${bytes}::bigint`
  const { rows } = await sql<{ allowed: number; hits: number[]; now: number }>`
    insert into rate_windows as w (key, hits, allowed, expires_at)
    values (
      ${key},
      case when ${bytes}::bigint <= ${budget.bytes}::bigint then array[${slice}, ${bytes}::bigint] else '{}' end,
      (${bytes}::bigint <= ${budget.bytes}::bigint)::int,
      ${now} + ${2 * budget.windowMs}::bigint
    )
    on conflict (key) do update set
      hits = case when ${fits} then ${toArray(added)} else ${toArray(pairs)} end,
      allowed = case when ${fits} then 1 else 0 end,
      expires_at = ${now} + ${2 * budget.windowMs}::bigint
    returning allowed, hits, ${now} as now`.execute(db.read)
  const row = rows[0]
  if (!row) throw new Error('the budget statement returned no row')
  if (row.allowed === 1) return { allowed: true, waitMs: 0 }
  return decideBudget(toSpent(row.hits.map(Number)), { now: row.now, sliceMs, bytes, budget: budget.bytes })
}

function toSpent(numbers: number[]) {
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({
    slice: numbers[2 * i] ?? 0,
    bytes: numbers[2 * i + 1] ?? 0,
  }))
}
