// Columns for channels that new forms use, and an index of test submissions, so that counts leave them out without reading
// the other rows.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, fromZero, getColumnTypes } from './columns.ts'

export const brandsAndTests = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint } = getColumnTypes(engine)
    await sql`create index submissions_of_tests on submissions (form_id) where announced = 2`.execute(db)
    await addColumns(db, 'channels', ['all_forms'], bigint, fromZero)
  },
})
