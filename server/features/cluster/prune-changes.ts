// Deletes old rows of the `changes` table. A process that finds a gap in the rows empties its caches.

import { sql } from 'kysely'
import type { Database } from '../../storage/database/open-database.ts'
import { DATABASE_NOW } from './database-clock.ts'

export const CHANGES_KEPT_MS = 10 * 60_000
/** Rows per transaction: a SQLite write blocks all other writes. */
const AT_ONCE = 1_000

/**
 * Keeps the newest of the old rows: a new process starts to read there, and can detect every later gap. The table is
 * thus never empty, so the database never reuses a number.
 */
export async function pruneChanges(db: Database): Promise<void> {
  const isOld = sql<boolean>`at < ${DATABASE_NOW[db.engine]} - ${sql.lit(CHANGES_KEPT_MS)}`
  for (;;) {
    const oldest = await db.read
      .selectFrom('changes')
      .select(['seq', isOld.as('old')])
      .orderBy('seq')
      .limit(AT_ONCE)
      .execute()
    const kept = oldest.findLast(({ old }) => Boolean(old))
    if (kept === undefined || kept.seq === oldest[0]?.seq) return
    await db.write((connection) => connection.deleteFrom('changes').where('seq', '<', kept.seq).execute())
  }
}
