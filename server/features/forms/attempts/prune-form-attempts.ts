// The job that deletes counts of attempts after 400 days: a year can be compared with the one before.

import { sql } from 'kysely'
import { DAY_MS, toUtcDay } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'

export const ATTEMPT_DAYS_KEPT = 400

export async function pruneFormAttempts(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'form_attempts', sql`day < ${toUtcDay(now - ATTEMPT_DAYS_KEPT * DAY_MS)}`)
}
