// Deletes changes that every process has read. A process that has not read them empties its caches.

import { sql } from 'kysely'
import type { Database } from '../../storage/database/open-database.ts'
import { DATABASE_NOW } from './database-clock.ts'

export const CHANGES_KEPT_MS = 10 * 60_000
/** A write of SQLite holds up all other writes. */
const AT_ONCE = 1_000

/**
 * Keeps the newest of the rows that are old enough: a process that starts begins there, and sees every gap after it. So
 * there is always a row, and numbers are never given twice.
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
