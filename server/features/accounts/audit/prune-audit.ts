// Deletes events of the audit log that are 180 days old: triggers of the database let nobody delete younger ones.

import { sql } from 'kysely'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'

/** An hour more than the triggers ask for: the clock of a database server may be behind ours. */
const KEPT_MS = 180 * DAY_MS + DAY_MS / 24

export async function pruneAudit(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'audit_events', sql`at < ${now - KEPT_MS}`)
}
