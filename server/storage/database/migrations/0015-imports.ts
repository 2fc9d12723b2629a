// Imports: their settings, the outcome of each row, the keys that recognize repeated rows, and click histories with their
// erasure.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { type ColumnTypes, fromZero, getColumnTypes, ofWorkspace } from './columns.ts'

export const imports = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const types = getColumnTypes(engine)
    await createImports(db, types)
    await createImportRows(db, types)
    await createImportKeys(db, types)
    await createHistories(db, types)
    await createImportErasures(db, types)
  },
})

async function createImports(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'imports')
    .addColumn('workspace_id', bigint, ofWorkspace)
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
    .addColumn('rows', bigint, fromZero)
    .addColumn('created', bigint, fromZero)
    .addColumn('renamed', bigint, fromZero)
    .addColumn('skipped', bigint, fromZero)
    .addColumn('failed', bigint, fromZero)
    .addColumn('clicks', bigint, fromZero)
    .addColumn('total', bigint)
    .addColumn('position', bigint, fromZero)
    .addColumn('notices', text, (c) => c.notNull().defaultTo('[]'))
    .addColumn('problem', text)
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('started_at', bigint)
    .addColumn('finished_at', bigint)
    .addColumn('undone_at', bigint)
    .addColumn('chunks', bigint, fromZero)
    .addColumn('first_at', bigint)
    .execute()
  await sql`create index imports_of_workspace on imports (workspace_id, id)`.execute(db)
  await sql`create index imports_open on imports (node, id) where status in ('queued', 'running')`.execute(db)
  await sql`create index imports_of_dry_runs on imports (node, finished_at)
    where dry_run = 1 and status = 'done'`.execute(db)
}

async function createImportRows(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
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
}

async function createImportKeys(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('import_keys')
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('source', text, (c) => c.notNull())
    .addColumn('source_key', text, (c) => c.notNull())
    .addColumn('link_id', bigint, (c) => c.notNull())
    .addColumn('import_id', bigint, (c) => c.notNull())
    .addPrimaryKeyConstraint('import_keys_key', ['workspace_id', 'source', 'source_key'])
    .execute()
  await sql`create index import_keys_by_link on import_keys (workspace_id, link_id)`.execute(db)
  await sql`create index import_keys_by_import on import_keys (import_id)`.execute(db)
}

/** The clicks of each day that an import has stored, and the totals that tools have counted. */
async function createHistories(db: Kysely<unknown>, { bigint }: ColumnTypes) {
  await db.schema
    .createTable('import_days')
    .addColumn('import_id', bigint, (c) => c.notNull())
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('link_id', bigint, (c) => c.notNull())
    .addColumn('day', bigint, (c) => c.notNull())
    .addColumn('clicks', bigint, (c) => c.notNull())
    .addColumn('counted', bigint, (c) => c.notNull())
    .addColumn('last_at', bigint, fromZero)
    .addPrimaryKeyConstraint('import_days_key', ['import_id', 'link_id', 'day'])
    .execute()
  await sql`create index import_days_by_link on import_days (workspace_id, link_id, day)`.execute(db)
  await db.schema
    .createTable('import_totals')
    .addColumn('import_id', bigint, (c) => c.notNull())
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('link_id', bigint, (c) => c.notNull())
    .addColumn('total', bigint, (c) => c.notNull())
    .addPrimaryKeyConstraint('import_totals_key', ['import_id', 'link_id'])
    .execute()
  await sql`create index import_totals_by_link on import_totals (workspace_id, link_id)`.execute(db)
}

/** Click histories to erase, and the nodes that have erased their part. */
async function createImportErasures(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await db.schema
    .createTable('import_erasures')
    .addColumn('import_id', bigint, (c) => c.primaryKey())
    .addColumn('workspace_id', bigint, ofWorkspace)
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
}
