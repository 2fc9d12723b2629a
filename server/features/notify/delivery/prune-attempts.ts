// The job that deletes attempts after 30 days.

import type { Database } from '../../../storage/database/open-database.ts'

const KEEP_MS = 30 * 24 * 60 * 60 * 1000
/** Rows in one transaction: a write of SQLite blocks all other writes. */
const BATCH_SIZE = 500

export async function pruneAttempts(db: Database, now: number): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await db.write((connection) =>
      connection
        .deleteFrom('delivery_attempts')
        .where('id', 'in', (query) =>
          query
            .selectFrom('delivery_attempts')
            .select('id')
            .where('at', '<', now - KEEP_MS)
            .orderBy('at')
            .limit(BATCH_SIZE),
        )
        .executeTakeFirst(),
    )
    if (numDeletedRows < BATCH_SIZE) return
  }
}
