// Notifications: confirmed recipients, shares of a day's mails, reports of failed and late deliveries, templates, digests
// and quiet hours.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, type ColumnTypes, fromZero, getColumnTypes, ofWorkspace } from './columns.ts'

/** Channels per read. */
const BATCH = 500

interface TablesBefore {
  channels: { id: number; workspace_id: number; type: string; recipients: string; created_at: number }
  mail_recipients: { workspace_id: number; email: string; confirmed_at: number; created_at: number }
}

export const notificationReports = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const types = getColumnTypes(engine)
    await createMailTables(db, types)
    await confirmExistingRecipients(db as Kysely<TablesBefore>)
    await extendChannels(db, types)
    await extendDeliveries(db, types)
  },
})

async function createMailTables(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'mail_recipients')
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('email', text, (c) => c.notNull())
    .addColumn('confirmed_at', bigint)
    .addColumn('stopped_at', bigint)
    .addColumn('created_at', bigint, (c) => c.notNull())
    .execute()
  await sql`create unique index mail_recipients_by_email on mail_recipients (workspace_id, email)`.execute(db)
  await db.schema
    .createTable('mail_counts')
    .addColumn('day', 'integer', (c) => c.primaryKey())
    .addColumn('sent', 'integer', (c) => c.notNull())
    .addColumn('sign_ups', 'integer', fromZero)
    .addColumn('notifications', 'integer', fromZero)
    .addColumn('confirmations', 'integer', fromZero)
    .addColumn('replies', 'integer', fromZero)
    .execute()
  await db.schema
    .createTable('mail_shares')
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('workspace_id', bigint, ofWorkspace)
    .addColumn('notifications', 'integer', fromZero)
    .addColumn('confirmations', 'integer', fromZero)
    .addColumn('replies', 'integer', fromZero)
    .addPrimaryKeyConstraint('mail_shares_key', ['day', 'workspace_id'])
    .execute()
  // For the deletion of a workspace, which searches its rows.
  await sql`create index mail_shares_of_workspace on mail_shares (workspace_id)`.execute(db)
}

/** Recipients of channels of 0.1.0 count as confirmed, so that they still get notifications. */
async function confirmExistingRecipients(db: Kysely<TablesBefore>) {
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

async function extendChannels(db: Kysely<unknown>, { bigint, text }: ColumnTypes) {
  await addColumns(db, 'channels', ['last_error'], text)
  await addColumns(db, 'channels', ['own_failures_since', 'behind_since', 'behind_noticed_at'], bigint)
  await addColumns(db, 'channels', ['template', 'digest', 'quiet_hours'], text)
  // In 0.1.0, `failing_since` is both the time that people see and the time that counts toward switching the channel off.
  await sql`update channels set own_failures_since = failing_since`.execute(db)
  await sql`create index channels_behind on channels (id) where behind_since is not null`.execute(db)
  // Replies and confirmations each have a hidden channel. If two transactions create it at once, only one row is stored.
  await sql`create unique index channels_of_replies on channels (workspace_id, name) where type = 'reply'`.execute(
    db,
  )
}

async function extendDeliveries(db: Kysely<unknown>, { bigint, text, postgres }: ColumnTypes) {
  await addColumns(db, 'deliveries', ['last_error'], text)
  await addColumns(db, 'deliveries', ['attempts_before', 'interrupted_before'], 'integer', fromZero)
  await addColumns(db, 'deliveries', ['request_id', 'traceparent'], text)
  // No foreign key: a digest is deleted with its channel, and its deliveries are too.
  await addColumns(db, 'deliveries', ['digest_id'], bigint)
  await addColumns(db, 'deliveries', ['sent_alone'], 'integer', fromZero)
  await addColumns(db, 'delivery_attempts', ['request'], text)
  // Shared counts of running deliveries. SQLite has one process, which counts them in memory.
  if (postgres)
    await sql`create index deliveries_leased on deliveries (channel_id) where leased_until is not null`.execute(
      db,
    )
  // With event and time in the index, counting waiting deliveries reads no table rows.
  await sql`drop index deliveries_waiting`.execute(db)
  await sql`create index deliveries_waiting on deliveries (channel_id, due_at, id, event, created_at)
    where status = 'waiting'`.execute(db)
  // Each claim searches for notices: without this index it would read every waiting delivery.
  await sql`create index deliveries_notices on deliveries (due_at, id)
    where status = 'waiting' and event in ('channel.disabled', 'channel.behind')`.execute(db)
  await sql`create index deliveries_in_digest on deliveries (digest_id, id)
    where digest_id is not null`.execute(db)
  await sql`create index deliveries_waiting_in_digest on deliveries (digest_id, id)
    where status = 'waiting' and digest_id is not null`.execute(db)
}
