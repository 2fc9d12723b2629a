// The inbox of a team: assignees of submissions, replies to senders, and labels of fields and reply templates of forms.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes, ofWorkspace } from './columns.ts'

export const inbox = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await addColumns(db, 'forms', ['field_labels', 'reply_templates'], text)
    await db.schema
      .createTable('submission_assignees')
      .addColumn('submission_id', bigint, (c) =>
        c.primaryKey().notNull().references('submissions.id').onDelete('cascade'),
      )
      .addColumn('workspace_id', bigint, (c) => c.notNull())
      .addColumn('user_id', bigint, (c) => c.notNull())
      // However a member leaves, the assignments are removed.
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
    await table(db, 'team_replies')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('submission_id', bigint, (c) => c.notNull().references('submissions.id').onDelete('cascade'))
      .addColumn('message_id', text)
      .addColumn('status', text)
      .addColumn('author', text)
      .addColumn('reply_to', text)
      .addColumn('subject', text, (c) => c.notNull())
      .addColumn('text', text, (c) => c.notNull())
      .addColumn('created_at', bigint, (c) => c.notNull())
      .execute()
    await sql`create index team_replies_by_submission on team_replies (submission_id)`.execute(db)
  },
})
