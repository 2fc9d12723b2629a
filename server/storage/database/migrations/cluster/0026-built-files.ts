// Files that releases have built for browsers. During an upgrade a page of one release may ask a server of the other for
// its files.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function builtFiles(engine: DatabaseEngine) {
  const { bigint, text, postgres } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('built_files')
        .addColumn('kind', text, (c) => c.notNull())
        .addColumn('name', text, (c) => c.notNull())
        .addColumn('gzip', postgres ? 'bytea' : sql`blob`, (c) => c.notNull())
        .addColumn('seen_at', bigint, (c) => c.notNull())
        .addPrimaryKeyConstraint('built_files_pk', ['kind', 'name'])
        .execute()
    },
  }
}
