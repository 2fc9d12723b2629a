// For many submissions: a revision that every change of a form raises, so that its settings are read once; a form's own limit
// per address; and an index that counts the replies of an hour without reading their rows.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, fromZero, getColumnTypes } from './columns.ts'

export const cheapSubmissions = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint } = getColumnTypes(engine)
    await addColumns(db, 'forms', ['revision'], bigint, fromZero)
    await addColumns(db, 'forms', ['per_address'], bigint)
    await sql`drop index replies_of_workspace`.execute(db)
    await sql`create index replies_of_workspace on replies (workspace_id, confirms, queued_at)`.execute(db)
  },
})
