// The statements of shared limits, as functions of PostgreSQL. A function keeps the plan of its statement for each
// connection: planning took three quarters of the time.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'

/** After this time (12 days) a row gets a new base time, so that no offset exceeds 2^31. No window is longer. */
const OFFSET_MAX = sql.raw(String(2 ** 30))

export const sharedLimits = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    if (engine !== 'postgres') return
    await createBudgetFunctions(db)
    await createWindowFunction(db)
  },
})

/** See features/accounts/access/shared-budget.ts. */
async function createBudgetFunctions(db: Kysely<unknown>) {
  // `hits` has pairs of a time slice and its bytes, oldest first. Slices too far ahead are from before the clock
  // was set back. If the bytes are within the limit, they are added and `allowed` is 1.
  await sql`create function add_bytes(
    hits bigint[], slice bigint, slices integer, bytes bigint, budget bigint, out kept bigint[], out allowed integer
  ) language plpgsql immutable as $$
    declare
      spent bigint := 0;
      last integer;
    begin
      kept := '{}';
      for i in 1 .. cardinality(hits) by 2 loop
        if hits[i] between slice - slices and slice + slices then
          kept := kept || hits[i] || hits[i + 1];
          spent := spent + hits[i + 1];
        end if;
      end loop;
      allowed := (spent + bytes <= budget)::integer;
      if allowed = 1 then
        last := cardinality(kept);
        -- A statement that waited for the row's lock may find a slice that began after it.
        if last > 0 and kept[last - 1] >= slice then
          kept[last] := kept[last] + bytes;
        else
          kept := kept || slice || bytes;
        end if;
      end if;
    end $$`.execute(db)
  await sql`create function spend_bytes(
    p_key text, p_bytes bigint, p_budget bigint, p_window_ms bigint, p_slices integer
  ) returns table (allowed integer, hits bigint[], now bigint) language plpgsql as $$
    #variable_conflict use_column
    declare
      -- The same time for all parts of the statement.
      p_now bigint := extract(epoch from statement_timestamp()) * 1000;
      p_slice bigint := p_now / (p_window_ms / p_slices);
      p_expires_at bigint := p_now + 2 * p_window_ms;
    begin
      return query insert into rate_windows as w (key, hits, allowed, expires_at)
        select p_key, kept, allowed, p_expires_at from add_bytes('{}', p_slice, p_slices, p_bytes, p_budget)
        on conflict (key) do update set (hits, allowed, expires_at) = (
          select kept, allowed, p_expires_at from add_bytes(w.hits, p_slice, p_slices, p_bytes, p_budget)
        )
        returning w.allowed, w.hits, p_now;
    end $$`.execute(db)
}

/** See features/accounts/access/shared-limit.ts. */
async function createWindowFunction(db: Kysely<unknown>) {
  // A statement waits for the row's lock before its update is evaluated, so it reads the clock in the update. Without
  // `offset 0`, PostgreSQL would copy the expression and read the clock at each use.
  await sql`create function take_one(p_key text, p_limit integer, p_window_ms integer)
  returns table (allowed integer, size integer, at integer, first integer, blocking integer) language plpgsql as $$
    #variable_conflict use_column
    begin
      return query insert into rate_limits as w (key, since, hits, allowed, expires_at)
        select p_key, now, '{0}', 1, now + p_window_ms
        from (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now offset 0) as clock
        on conflict (key) do update set (since, hits, allowed, expires_at) = (
          select w.since + moved,
            case when newest - oldest < p_limit then kept[oldest + 1 : newest] || at else kept[oldest + 1 : newest] end,
            (newest - oldest < p_limit)::int,
            w.since + moved + at + p_window_ms
          from (
            select moved, at, kept, width_bucket(at - p_window_ms, kept) as oldest, width_bucket(at, kept) as newest
            from (
              select moved, (late - moved)::int as at, case when moved = 0 then w.hits else array(
                select (hit - moved)::int from unnest(w.hits) as hit where hit - moved > -${OFFSET_MAX} and hit <= late
                order by hit
              ) end as kept
              from (
                select late, case when abs(late) < ${OFFSET_MAX} then 0 else late end as moved
                from (select (extract(epoch from clock_timestamp()) * 1000)::bigint - w.since as late offset 0) as clock
                offset 0
              ) as moves offset 0
            ) as times offset 0
          ) as found
        )
        returning w.allowed, cardinality(w.hits), (w.expires_at - w.since - p_window_ms)::int, w.hits[1],
          w.hits[cardinality(w.hits) - p_limit + 1];
    end $$`.execute(db)
}
