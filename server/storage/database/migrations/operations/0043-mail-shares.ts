// Mails of a day by kind and by workspace, so that each workspace has its share. Confirmations get a hidden channel and a
// limit an hour of their own, so that replies never hold them up.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export const mailShares = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint } = getColumnTypes(engine)
    for (const kind of ['sign_ups', 'notifications', 'confirmations', 'replies'])
      await db.schema
        .alterTable('mail_counts')
        .addColumn(kind, 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
    let shares = db.schema
      .createTable('mail_shares')
      .addColumn('day', 'integer', (c) => c.notNull())
      .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    for (const kind of ['notifications', 'confirmations', 'replies'])
      shares = shares.addColumn(kind, 'integer', (c) => c.notNull().defaultTo(0))
    await shares.addPrimaryKeyConstraint('mail_shares_key', ['day', 'workspace_id']).execute()
    // Deleting a workspace looks for its rows.
    await sql`create index mail_shares_of_workspace on mail_shares (workspace_id)`.execute(db)
    await db.schema
      .alterTable('replies')
      .addColumn('confirms', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await sql`drop index channels_of_replies`.execute(db)
    await sql`create unique index channels_of_replies on channels (workspace_id, name) where type = 'reply'`.execute(
      db,
    )
  },
})
