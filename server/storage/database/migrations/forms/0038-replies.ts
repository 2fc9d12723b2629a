// Replies to senders: when each address had its last one, who wants no more of them, and the hidden channel that delivers
// them.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export const replies = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    await db.schema
      .createTable('replies')
      .addColumn('form_id', bigint, (c) => c.notNull().references('forms.id').onDelete('cascade'))
      .addColumn('address', text, (c) => c.notNull())
      .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('queued_at', bigint, (c) => c.notNull())
      .addPrimaryKeyConstraint('replies_key', ['form_id', 'address'])
      .execute()
    await sql`create index replies_of_workspace on replies (workspace_id, queued_at)`.execute(db)
    await sql`create index replies_by_age on replies (queued_at)`.execute(db)
    await db.schema
      .createTable('reply_stops')
      .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('address', text, (c) => c.notNull())
      .addColumn('stopped_at', bigint, (c) => c.notNull())
      .addPrimaryKeyConstraint('reply_stops_key', ['workspace_id', 'address'])
      .execute()
    // Two transactions that need the channel at once make one.
    await sql`create unique index channels_of_replies on channels (workspace_id) where type = 'reply'`.execute(
      db,
    )
  },
})
