// The job that deletes attempts and deliveries of events after 30 days, and those of clicks after a day.

import { sql } from 'kysely'
import type { Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'

const KEEP_MS = 30 * 24 * 60 * 60 * 1000

/** Clicks are many, and analytics have them: a day is enough to repeat what failed. */
const KEEP_CLICKS_MS = 24 * 60 * 60 * 1000

export async function pruneAttempts(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'delivery_attempts', sql`at < ${now - KEEP_MS}`)
  const isOver = (ms: number) => sql`payload is not null and created_at < ${now - ms} and status <> 'waiting'`
  await pruneInSlices(db, 'deliveries', isOver(KEEP_MS))
  await pruneInSlices(db, 'deliveries', sql`${isOver(KEEP_CLICKS_MS)} and event = 'link.clicked'`)
}
