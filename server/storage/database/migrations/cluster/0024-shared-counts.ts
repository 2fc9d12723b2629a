// Counts shared by several processes: a compact table for rate limits, and an index on deliveries that run now.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'

/** SQLite has one process, which counts both in memory. */
export const sharedCounts = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    if (engine !== 'postgres') return
    // `rate_windows` stays: it has the budgets of bytes, and servers of an older release count their limits there.
    // The free half of each page takes the next version of a row, so that an update touches no index.
    await sql`create unlogged table rate_limits (
      key text collate "C" primary key, since bigint not null, hits integer[] not null, allowed integer not null,
      expires_at bigint not null
    ) with (fillfactor = 50)`.execute(db)
    await db.schema
      .createIndex('deliveries_leased')
      .on('deliveries')
      .column('channel_id')
      .where(sql.ref('leased_until'), 'is not', null)
      .execute()
  },
})
