// A narrow table for clicks that are new: `links` has seven indexes, and each update of its counters writes to most of
// them.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export const linkCounters = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, postgres } = getColumnTypes(engine)
    await db.schema
      .createTable('link_counters')
      .addColumn('link_id', bigint, (c) => c.primaryKey().references('links.id').onDelete('cascade'))
      .addColumn('workspace_id', bigint, (c) => c.notNull())
      .addColumn('clicks', bigint, (c) => c.notNull())
      .addColumn('last_clicked_at', bigint, (c) => c.notNull())
      .execute()
    // Half of each page takes the next versions of its rows, so that an update touches no index.
    if (postgres) await sql`alter table link_counters set (fillfactor = 50)`.execute(db)
  },
})
