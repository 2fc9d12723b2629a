// Deletes records of replies once they limit nothing any more.

import { sql } from 'kysely'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'

export const pruneReplies = async (db: Database, now: number): Promise<void> => {
  await pruneInSlices(db, 'replies', sql`queued_at <= ${now - DAY_MS}`)
}
