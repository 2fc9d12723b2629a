// Creates the salt of each day in the rows, and destroys it when its day is over.

import { randomBytes } from 'node:crypto'
import { toUtcDay } from '../../lib/utc-day.ts'
import type { Connection, Database } from '../../storage/database/database.ts'
import type { DailySalt } from './salts.ts'

const HOUR_MS = 60 * 60 * 1000
/** A database that is away at midnight costs nothing: every process knows the next day's salt since 18:00 UTC. */
const AHEAD_MS = 6 * HOUR_MS

/**
 * Creates missing salts, deletes old ones, and returns the others: today's, tomorrow's from 18:00 UTC on, and
 * yesterday's until 02:00 UTC (hits from before midnight may still wait in the spool). Run it every few minutes. All
 * processes of an instance share the salts through the rows.
 */
export async function ensureSalts({ db, now }: { db: Database; now: number }): Promise<DailySalt[]> {
  const needed = [toUtcDay(now), toUtcDay(now + AHEAD_MS)]
  const oldest = toUtcDay(now - 2 * HOUR_MS)
  const stored = await db.read.selectFrom('visitor_salts').selectAll().orderBy('day').execute()
  const missing = needed.filter(
    (day, i) => needed.indexOf(day) === i && !stored.some((salt) => salt.day === day),
  )
  if (missing.length === 0 && stored.every(({ day }) => day >= oldest)) return stored
  return db.write(async (connection) => {
    await connection.deleteFrom('visitor_salts').where('day', '<', oldest).execute()
    await deleteInternalVisitors(connection, oldest)
    for (const day of missing)
      await connection
        .insertInto('visitor_salts')
        .values({ day, salt: randomBytes(32).toString('hex') })
        .onConflict((conflict) => conflict.column('day').doNothing())
        .execute()
    return connection.selectFrom('visitor_salts').selectAll().orderBy('day').execute()
  })
}

/** They mean nothing without the salt of their day. */
async function deleteInternalVisitors(connection: Connection, oldest: string): Promise<void> {
  await connection.deleteFrom('internal_visitors').where('day', '<', oldest).execute()
}
