// Files of submissions. A deleted row, however it is deleted, leaves its file's key behind for the eraser: a trigger
// sees the deletions of forms and workspaces too.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export const uploads = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await table(db, 'submission_files')
      .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('submission_id', bigint, (c) => c.notNull().references('submissions.id').onDelete('cascade'))
      .addColumn('field', text, (c) => c.notNull())
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('type', text, (c) => c.notNull())
      .addColumn('bytes', bigint, (c) => c.notNull())
      .addColumn('sha256', text, (c) => c.notNull())
      .addColumn('key', text, (c) => c.notNull().unique())
      .addColumn('created_at', bigint, (c) => c.notNull())
      .execute()
    await sql`create index submission_files_of_submission on submission_files (submission_id, id)`.execute(db)
    await sql`create index submission_files_of_workspace on submission_files (workspace_id, id)`.execute(db)
    await db.schema
      .createTable('upload_totals')
      .addColumn('workspace_id', bigint, (c) =>
        c.primaryKey().references('workspaces.id').onDelete('cascade'),
      )
      .addColumn('files', bigint, (c) => c.notNull().defaultTo(0))
      .addColumn('bytes', bigint, (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createTable('erased_files')
      .addColumn('key', text, (c) => c.primaryKey())
      .addColumn('bytes', bigint, (c) => c.notNull())
      .execute()
    await createTrigger(db, engine)
  },
})

const ON_DELETE = sql`
  insert into erased_files (key, bytes) values (old.key, old.bytes) on conflict do nothing;
  update upload_totals set files = files - 1, bytes = bytes - old.bytes where workspace_id = old.workspace_id;`

async function createTrigger(db: Kysely<unknown>, engine: DatabaseEngine) {
  if (engine === 'sqlite') {
    await sql`create trigger submission_file_deleted after delete on submission_files
      begin ${ON_DELETE} end`.execute(db)
    return
  }
  await sql`create function leave_erased_file() returns trigger language plpgsql as $$
    begin ${ON_DELETE} return old; end $$`.execute(db)
  await sql`create trigger submission_file_deleted after delete on submission_files
    for each row execute function leave_erased_file()`.execute(db)
}
