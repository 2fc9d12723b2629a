// Brands of workspaces and forms, channels that new forms use, and an index of test submissions, so that counts leave them
// out without reading the other rows.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, fromZero, getColumnTypes, ofWorkspace } from './columns.ts'

export const brandsAndTests = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    await sql`create index submissions_of_tests on submissions (form_id) where announced = 2`.execute(db)
    await addColumns(db, 'channels', ['all_forms'], bigint, fromZero)
    await addColumns(db, 'workspaces', ['brand'], text)
    await addColumns(db, 'forms', ['brand'], text)
    await db.schema
      .createTable('brand_logos')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('hash', text, (c) => c.notNull())
      .addColumn('png', text, (c) => c.notNull())
      .addColumn('created_at', bigint, (c) => c.notNull())
      .addPrimaryKeyConstraint('brand_logos_key', ['workspace_id', 'hash'])
      .execute()
    await sql`create index brand_logos_by_hash on brand_logos (hash)`.execute(db)
  },
})
