// Notification channels, deliveries and delivery attempts.

import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { type ColumnTypes, getColumnTypes } from './columns.ts'

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
  await db.schema
    .createIndex('channels_by_created_at')
    .on('channels')
    .columns(['workspace_id', 'created_at', 'id'])
    .execute()
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
  await db.schema
    .createIndex('deliveries_by_created_at')
    .on('deliveries')
    .columns(['workspace_id', 'created_at', 'id'])
    .execute()
  // Waiting deliveries by channel, so that thousands for one channel do not slow down another channel.
  await db.schema
    .createIndex('deliveries_waiting')
    .on('deliveries')
    .columns(['channel_id', 'due_at', 'id'])
    .where(sql.ref('status'), '=', 'waiting')
    .execute()
  await db.schema
    .createIndex('deliveries_by_submission')
    .on('deliveries')
    .columns(['submission_id'])
    .execute()
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
  await db.schema
    .createIndex('delivery_attempts_by_delivery')
    .on('delivery_attempts')
    .columns(['delivery_id', 'id'])
    .execute()
  await db.schema.createIndex('delivery_attempts_by_age').on('delivery_attempts').column('at').execute()
}
