// The job that repairs times after the clock was set back. Retries, leases and pauses of channels that were planned by
// the fast clock would otherwise wait too long.

import { sql } from 'kysely'
import { log } from '../../../lib/log.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { LEASE_MS } from './claim-deliveries.ts'

export interface ClockNeeds {
  db: Database
  now: () => number
  /** Monotonic milliseconds. */
  clock?: () => number
}

/** A delivery may wait this much longer than planned. A step below is as small as the jitter of most retries. */
const STEP_MIN_MS = 60_000

/**
 * @returns the work of one run. The first run compares the clock with the newest rows, because the clock may have been set
 * back while no server ran; each other run compares it with the time since the run before.
 */
export function createClockFollower({ db, now, clock = () => performance.now() }: ClockNeeds) {
  let last: { wall: number; monotonic: number } | undefined
  return async function followClock(): Promise<void> {
    const current = { wall: now(), monotonic: clock() }
    const expected = last ? last.wall + current.monotonic - last.monotonic : await findNewestMoment(db)
    const backMs = Math.round(expected - current.wall)
    if (backMs > STEP_MIN_MS) {
      await db.write((connection) => bringForward(connection, backMs, current.wall))
      log.warn('clock_was_set_back', { backMs })
    }
    last = current
  }
}

/** The newest moment that a delivery or an attempt has; 0 when there is none. */
async function findNewestMoment({ read }: Database): Promise<number> {
  const { rows } = await sql<{ attempted: number | null; stored: number | null }>`select
    (select max(at) from delivery_attempts) as attempted,
    (select created_at from deliveries order by id desc limit 1) as stored`.execute(read)
  return Math.max(rows[0]?.attempted ?? 0, rows[0]?.stored ?? 0)
}

async function bringForward(connection: Connection, backMs: number, now: number): Promise<void> {
  await sql`update deliveries set due_at = due_at - ${backMs}
    where status = 'waiting' and due_at > ${now}`.execute(connection)
  await sql`update deliveries set leased_until = leased_until - ${backMs}
    where status = 'waiting' and leased_until > ${now + LEASE_MS}`.execute(connection)
  await sql`update channels set paused_until = paused_until - ${backMs} where paused_until > ${now}`.execute(
    connection,
  )
}
