// Recipients of email channels confirm once, and mails are counted by day. Recipients of channels that exist already
// count as confirmed, so that their notifications go on.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

/** Channels that are read at once. */
const BATCH = 500

interface OldTables {
  channels: { id: number; workspace_id: number; type: string; recipients: string; created_at: number }
  mail_recipients: { workspace_id: number; email: string; confirmed_at: number; created_at: number }
}

export function signUps(engine: DatabaseEngine) {
  const { bigint, text, table } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await table(db, 'mail_recipients')
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
        .addColumn('email', text, (c) => c.notNull())
        .addColumn('confirmed_at', bigint)
        .addColumn('stopped_at', bigint)
        .addColumn('created_at', bigint, (c) => c.notNull())
        .execute()
      await db.schema
        .createIndex('mail_recipients_by_email')
        .unique()
        .on('mail_recipients')
        .columns(['workspace_id', 'email'])
        .execute()
      await db.schema
        .createTable('mail_counts')
        .addColumn('day', 'integer', (c) => c.primaryKey())
        .addColumn('sent', 'integer', (c) => c.notNull())
        .execute()
      await confirmExistingRecipients(db as Kysely<OldTables>)
    },
  }
}

async function confirmExistingRecipients(db: Kysely<OldTables>) {
  for (let after = 0; ; ) {
    const channels = await db
      .selectFrom('channels')
      .select(['id', 'workspace_id', 'recipients', 'created_at'])
      .where('type', '=', 'email')
      .where('id', '>', after)
      .orderBy('id')
      .limit(BATCH)
      .execute()
    const last = channels.at(-1)
    if (!last) return
    after = last.id
    for (const { workspace_id, recipients, created_at } of channels) {
      const rows = (JSON.parse(recipients) as string[]).map((address) => ({
        workspace_id,
        email: address.toLowerCase(),
        confirmed_at: created_at,
        created_at,
      }))
      if (rows.length === 0) continue
      await db
        .insertInto('mail_recipients')
        .values(rows)
        .onConflict((conflict) => conflict.columns(['workspace_id', 'email']).doNothing())
        .execute()
    }
  }
}
