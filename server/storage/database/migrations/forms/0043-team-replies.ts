// The replies that the team has written to senders: the history of a submission.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes, ofWorkspace } from '../columns.ts'

export const teamReplies = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
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
