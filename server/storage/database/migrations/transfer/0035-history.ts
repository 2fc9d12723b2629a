// Click histories of imports: which chunks are stored, what tools have counted in all, and which histories are erased again.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function history(engine: DatabaseEngine) {
  const { bigint, text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('imports')
        .addColumn('chunks', bigint, (c) => c.notNull().defaultTo(0))
        .execute()
      await db.schema.alterTable('imports').addColumn('first_at', bigint).execute()
      await db.schema
        .alterTable('import_days')
        .addColumn('last_at', bigint, (c) => c.notNull().defaultTo(0))
        .execute()
      await db.schema
        .createTable('import_totals')
        .addColumn('import_id', bigint, (c) => c.notNull())
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
        .addColumn('link_id', bigint, (c) => c.notNull())
        .addColumn('total', bigint, (c) => c.notNull())
        .addPrimaryKeyConstraint('import_totals_key', ['import_id', 'link_id'])
        .execute()
      await sql`create index import_totals_by_link on import_totals (workspace_id, link_id)`.execute(db)
      await db.schema
        .createTable('import_erasures')
        .addColumn('import_id', bigint, (c) => c.primaryKey())
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
        .addColumn('requested_at', bigint, (c) => c.notNull())
        .execute()
      await db.schema
        .createTable('import_erasure_marks')
        .addColumn('import_id', bigint, (c) =>
          c.notNull().references('import_erasures.import_id').onDelete('cascade'),
        )
        .addColumn('node', text, (c) => c.notNull())
        .addColumn('done_at', bigint, (c) => c.notNull())
        .addPrimaryKeyConstraint('import_erasure_marks_key', ['import_id', 'node'])
        .execute()
    },
  }
}
