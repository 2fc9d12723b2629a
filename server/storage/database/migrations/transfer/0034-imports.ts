// Imports: their settings, the outcome of each row, and the keys that make a repeated import change nothing.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function imports(engine: DatabaseEngine) {
  const { bigint, text, table } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await table(db, 'imports')
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
        .addColumn('node', text, (c) => c.notNull())
        .addColumn('source', text, (c) => c.notNull())
        .addColumn('status', text, (c) => c.notNull())
        .addColumn('stage', text, (c) => c.notNull())
        .addColumn('dry_run', bigint, (c) => c.notNull())
        .addColumn('on_conflict', text, (c) => c.notNull())
        .addColumn('options', text, (c) => c.notNull())
        .addColumn('file_name', text)
        .addColumn('file_bytes', bigint, (c) => c.notNull())
        .addColumn('clicks_file_name', text)
        .addColumn('clicks_file_bytes', bigint)
        .addColumn('rows', bigint, (c) => c.notNull().defaultTo(0))
        .addColumn('created', bigint, (c) => c.notNull().defaultTo(0))
        .addColumn('renamed', bigint, (c) => c.notNull().defaultTo(0))
        .addColumn('skipped', bigint, (c) => c.notNull().defaultTo(0))
        .addColumn('failed', bigint, (c) => c.notNull().defaultTo(0))
        .addColumn('clicks', bigint, (c) => c.notNull().defaultTo(0))
        .addColumn('total', bigint)
        .addColumn('position', bigint, (c) => c.notNull().defaultTo(0))
        .addColumn('notices', text, (c) => c.notNull().defaultTo('[]'))
        .addColumn('problem', text)
        .addColumn('actor', text, (c) => c.notNull())
        .addColumn('created_at', bigint, (c) => c.notNull())
        .addColumn('started_at', bigint)
        .addColumn('finished_at', bigint)
        .addColumn('undone_at', bigint)
        .execute()
      await sql`create index imports_of_workspace on imports (workspace_id, id)`.execute(db)
      await sql`create index imports_open on imports (node, id) where status in ('queued', 'running')`.execute(
        db,
      )
      await table(db, 'import_rows')
        .addColumn('import_id', bigint, (c) => c.notNull().references('imports.id').onDelete('cascade'))
        .addColumn('workspace_id', bigint, (c) => c.notNull())
        .addColumn('row', bigint, (c) => c.notNull())
        .addColumn('kind', text, (c) => c.notNull())
        .addColumn('outcome', text, (c) => c.notNull())
        .addColumn('name', text)
        .addColumn('item_id', bigint)
        .addColumn('item_updated_at', bigint)
        .addColumn('field', text)
        .addColumn('value', text)
        .addColumn('message', text)
        .execute()
      await sql`create index import_rows_by_outcome on import_rows (import_id, outcome, id)`.execute(db)
      await db.schema
        .createTable('import_keys')
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
        .addColumn('source', text, (c) => c.notNull())
        .addColumn('source_key', text, (c) => c.notNull())
        .addColumn('link_id', bigint, (c) => c.notNull())
        .addColumn('import_id', bigint, (c) => c.notNull())
        .addPrimaryKeyConstraint('import_keys_key', ['workspace_id', 'source', 'source_key'])
        .execute()
      await sql`create index import_keys_by_link on import_keys (workspace_id, link_id)`.execute(db)
      await sql`create index import_keys_by_import on import_keys (import_id)`.execute(db)
      await db.schema
        .createTable('import_days')
        .addColumn('import_id', bigint, (c) => c.notNull())
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
        .addColumn('link_id', bigint, (c) => c.notNull())
        .addColumn('day', bigint, (c) => c.notNull())
        .addColumn('clicks', bigint, (c) => c.notNull())
        .addColumn('counted', bigint, (c) => c.notNull())
        .addPrimaryKeyConstraint('import_days_key', ['import_id', 'link_id', 'day'])
        .execute()
      await sql`create index import_days_by_link on import_days (workspace_id, link_id, day)`.execute(db)
      await db.schema
        .alterTable('links')
        .addColumn('clicks_before', bigint, (c) => c.notNull().defaultTo(0))
        .execute()
    },
  }
}
