// The job that deletes attempts after 30 days.

import { sql } from 'kysely'
import type { Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'

const KEEP_MS = 30 * 24 * 60 * 60 * 1000

export async function pruneAttempts(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'delivery_attempts', sql`at < ${now - KEEP_MS}`)
}
