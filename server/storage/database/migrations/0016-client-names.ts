// Names of browsers, systems and devices in rows of earlier releases can be texts of visitors. A job replaces them in
// slices: see close-client-names.ts.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

export const clientNames = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    await db.schema
      .createTable('open_names')
      .addColumn('table_name', text, (c) => c.primaryKey())
      .addColumn('through', bigint, (c) => c.notNull())
      .execute()
    await sql`insert into open_names (table_name, through)
      select 'submissions', max(id) from submissions having max(id) is not null`.execute(db)
  },
})
