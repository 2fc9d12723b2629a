// Counts waiting deliveries by channel, on the index of waiting deliveries alone: no delivery is read.

import { sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { IS_OWNER_NOTICE, SUBMISSION_DIGEST } from './enqueue-deliveries.ts'

/** Counting stops here for a channel: lists of channels and a check every ten seconds count. */
export const COUNTED_MAX = 10_000
/** SQLite runs on the event loop: one turn counts at most this many channels. */
const CHANNELS_PER_STEP = 10

export interface WaitingDeliveries {
  waiting: number
  /** The deliveries whose next attempt should have begun. */
  due: number
  /** When the oldest was created, and since when the oldest is due: milliseconds since the epoch. */
  oldest: number | null
  oldestDue: number | null
}

export const NOTHING_WAITS: WaitingDeliveries = { waiting: 0, due: 0, oldest: null, oldestDue: null }

/**
 * Without notices to owners. A digest that is due counts as due in place of the deliveries that it sends. It counts at
 * most COUNTED_MAX, those that are due first.
 * @param now when absent, nothing counts as due
 */
export async function countWaiting(
  connection: Connection,
  channelIds: number[],
  now = 0,
): Promise<Map<number, WaitingDeliveries>> {
  const counted = new Map<number, WaitingDeliveries>()
  for (let from = 0; from < channelIds.length; from += CHANNELS_PER_STEP) {
    if (from > 0) await takeTurn()
    const parts = channelIds.slice(from, from + CHANNELS_PER_STEP).map(
      (id, i) => sql`
        select ${sql.lit(id)} as id, sum(case when event = ${SUBMISSION_DIGEST} then 0 else 1 end) as waiting, min(created_at) as oldest,
          sum(case when due_at <= ${now} then 1 else 0 end) as due,
          min(case when due_at <= ${now} then due_at end) as "oldestDue"
        from (
          select due_at, created_at, event from deliveries
          where channel_id = ${id} and status = 'waiting' and not (${IS_OWNER_NOTICE})
          order by due_at limit ${COUNTED_MAX}
        ) as ${sql.ref(`channel_${i}`)}`,
    )
    type Row = Record<keyof WaitingDeliveries | 'id', number | null>
    const { rows } = await sql<Row>`${sql.join(parts, sql` union all `)}`.execute(connection)
    for (const { id, waiting, due, oldest, oldestDue } of rows)
      counted.set(Number(id), { waiting: Number(waiting ?? 0), due: Number(due ?? 0), oldest, oldestDue })
  }
  return counted
}
