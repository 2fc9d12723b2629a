// Counts the transactions that wait for a lock in PostgreSQL: a test of a race begins there.

import { sql } from 'kysely'
import type { Database } from '../../../server/storage/database/open-database.ts'

export async function countLockWaits(db: Database): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db.read)
  return rows[0]?.waiting ?? 0
}
