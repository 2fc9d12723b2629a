// Outcomes of leads, an index that finds the leads of a click, and the click ids of ad networks that forms may keep.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, fromZero, getColumnTypes, ofWorkspace } from './columns.ts'

export const outcomes = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await table(db, 'outcomes')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('submission_id', bigint, (c) => c.notNull().references('submissions.id').onDelete('cascade'))
      .addColumn('stage', text, (c) => c.notNull())
      .addColumn('value', text)
      .addColumn('currency', text)
      .addColumn('at', bigint, (c) => c.notNull())
      .addColumn('external_id', text)
      .addColumn('created_at', bigint, (c) => c.notNull())
      .addColumn('updated_at', bigint, (c) => c.notNull())
      .execute()
    await sql`create index outcomes_by_time on outcomes (workspace_id, at, id)`.execute(db)
    await sql`create index outcomes_by_submission on outcomes (submission_id)`.execute(db)
    await sql`create unique index outcomes_by_external_id on outcomes (workspace_id, external_id)
      where external_id is not null`.execute(db)
    await addColumns(db, 'forms', ['ad_click_ids'], 'integer', fromZero)
    await addColumns(db, 'submissions', ['ad_click_ids'], text)
    await sql`create index submissions_by_click on submissions (workspace_id, click_id)
      where click_id is not null`.execute(db)
  },
})
