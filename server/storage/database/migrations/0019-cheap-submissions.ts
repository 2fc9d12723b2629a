// Columns and indexes for cheap submissions: a number that every change of a form raises, so that its settings are read
// once, and an index that counts the replies of an hour without reading their rows.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, fromZero, getColumnTypes } from './columns.ts'

export const cheapSubmissions = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    await addColumns(db, 'forms', ['revision'], getColumnTypes(engine).bigint, fromZero)
    await sql`drop index replies_of_workspace`.execute(db)
    await sql`create index replies_of_workspace on replies (workspace_id, confirms, queued_at)`.execute(db)
  },
})
