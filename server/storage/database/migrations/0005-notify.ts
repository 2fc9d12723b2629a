// Notification channels, deliveries and delivery attempts.

import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { type ColumnTypes, createIndex, getColumnTypes } from './columns.ts'

export function notify(engine: DatabaseEngine) {
  const types = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await createChannels(db, types)
      await createDeliveries(db, types)
      await createDeliveryAttempts(db, types)
    },
  }
}

async function createChannels(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'channels')
    .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    .addColumn('type', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('recipients', text, (c) => c.notNull().defaultTo('[]'))
    .addColumn('shown_url', text)
    .addColumn('chat_id', text)
    .addColumn('sealed', text)
    .addColumn('enabled', 'integer', (c) => c.notNull().defaultTo(1))
    .addColumn('disabled_reason', text)
    .addColumn('failing_since', bigint)
    .addColumn('paused_until', bigint)
    .addColumn('last_delivery_at', bigint)
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('updated_at', bigint, (c) => c.notNull())
    .execute()
  await createIndex(db, 'channels', 'channels_by_created_at', ['workspace_id', 'created_at', 'id'])
}

async function createDeliveries(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'deliveries')
    .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
    .addColumn('channel_id', bigint, (c) => c.notNull().references('channels.id').onDelete('cascade'))
    .addColumn('submission_id', bigint, (c) => c.references('submissions.id').onDelete('cascade'))
    .addColumn('event', text, (c) => c.notNull())
    .addColumn('message_id', text, (c) => c.notNull().unique())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('due_at', bigint)
    .addColumn('leased_until', bigint)
    .addColumn('created_at', bigint, (c) => c.notNull())
    .addColumn('finished_at', bigint)
    .execute()
  await createIndex(db, 'deliveries', 'deliveries_by_created_at', ['workspace_id', 'created_at', 'id'])
  // Waiting deliveries by channel, so that thousands for one channel do not slow down another channel.
  await db.schema
    .createIndex('deliveries_waiting')
    .on('deliveries')
    .columns(['channel_id', 'due_at', 'id'])
    .where(sql.ref('status'), '=', 'waiting')
    .execute()
  await createIndex(db, 'deliveries', 'deliveries_by_submission', ['submission_id'])
}

async function createDeliveryAttempts(db: Kysely<unknown>, { bigint, text, table }: ColumnTypes) {
  await table(db, 'delivery_attempts')
    .addColumn('delivery_id', bigint, (c) => c.notNull().references('deliveries.id').onDelete('cascade'))
    .addColumn('workspace_id', bigint, (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('outcome', text, (c) => c.notNull())
    .addColumn('http_status', 'integer')
    .addColumn('answer', text)
    .addColumn('took_ms', bigint, (c) => c.notNull())
    .addColumn('at', bigint, (c) => c.notNull())
    .execute()
  await createIndex(db, 'delivery_attempts', 'delivery_attempts_by_delivery', ['delivery_id', 'id'])
  await createIndex(db, 'delivery_attempts', 'delivery_attempts_by_age', ['at'])
}
