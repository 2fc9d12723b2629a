// Deletes events of the audit log that are 180 days old: triggers of the database let nobody delete younger ones.

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'

/** An hour more than the triggers ask for: the clock of a database server may be behind ours. */
const KEPT_MS = 180 * DAY_MS + DAY_MS / 24
/** A write of SQLite holds up all other writes. */
const ROWS_AT_ONCE = 1000

export async function pruneAudit(db: Database, now: number): Promise<void> {
  for (;;) {
    const deleted = await db.write(async (connection) => {
      const old = connection
        .selectFrom('audit_events')
        .select('id')
        .where('at', '<', now - KEPT_MS)
        .limit(ROWS_AT_ONCE)
      const { numDeletedRows } = await connection
        .deleteFrom('audit_events')
        .where('id', 'in', old)
        .executeTakeFirst()
      return Number(numDeletedRows)
    })
    if (deleted < ROWS_AT_ONCE) return
  }
}
