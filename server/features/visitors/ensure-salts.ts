// The random salts under which visitors are hashed: one a day, and destroyed when its day is over.

import { randomBytes } from 'node:crypto'
import { toUtcDay } from '../../lib/utc-day.ts'
import type { Database } from '../../storage/database/database.ts'
import type { DailySalt } from './salts.ts'

const HOUR_MS = 60 * 60 * 1000

/**
 * Brings the salts to what `now` needs and returns them: today's, tomorrow's from 23:00 UTC on (no hit waits for
 * one), yesterday's until 02:00 UTC (hits of before midnight may still wait in the spool). All others are deleted.
 * To be run every few minutes. All processes of an instance share the salts through the rows.
 */
export async function ensureSalts({ db, now }: { db: Database; now: number }): Promise<DailySalt[]> {
  const needed = [toUtcDay(now), toUtcDay(now + HOUR_MS)]
  const oldest = toUtcDay(now - 2 * HOUR_MS)
  const kept = await db.read.selectFrom('visitor_salts').selectAll().orderBy('day').execute()
  const missing = needed.filter(
    (day, i) => needed.indexOf(day) === i && !kept.some((salt) => salt.day === day),
  )
  if (missing.length === 0 && kept.every(({ day }) => day >= oldest)) return kept
  return db.write(async (connection) => {
    await connection.deleteFrom('visitor_salts').where('day', '<', oldest).execute()
    for (const day of missing)
      await connection
        .insertInto('visitor_salts')
        .values({ day, salt: randomBytes(32).toString('hex') })
        .onConflict((conflict) => conflict.column('day').doNothing())
        .execute()
    return connection.selectFrom('visitor_salts').selectAll().orderBy('day').execute()
  })
}
