// The assignees of submissions, and what forms keep for the inbox: labels of fields, and templates of replies.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { addColumns, getColumnTypes } from '../columns.ts'

export const inbox = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    await addColumns(db, 'forms', ['field_labels', 'reply_templates'], text)
    await db.schema
      .createTable('submission_assignees')
      .addColumn('submission_id', bigint, (c) =>
        c.primaryKey().notNull().references('submissions.id').onDelete('cascade'),
      )
      .addColumn('workspace_id', bigint, (c) => c.notNull())
      .addColumn('user_id', bigint, (c) => c.notNull())
      // A member who leaves, in whatever way, has no submission any more.
      .addForeignKeyConstraint(
        'submission_assignees_member',
        ['workspace_id', 'user_id'],
        'members',
        ['workspace_id', 'user_id'],
        (c) => c.onDelete('cascade'),
      )
      .execute()
    await sql`create index submission_assignees_by_member
      on submission_assignees (workspace_id, user_id, submission_id)`.execute(db)
  },
})
