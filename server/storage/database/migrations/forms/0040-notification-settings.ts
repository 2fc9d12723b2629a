// Notification settings of a channel: template, digest and quiet hours. Each digest's deliveries.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export const notificationSettings = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    for (const name of ['template', 'digest', 'quiet_hours'])
      await db.schema.alterTable('channels').addColumn(name, text).execute()
    // No foreign key: a digest is deleted with its channel, and its deliveries are too.
    await db.schema.alterTable('deliveries').addColumn('digest_id', bigint).execute()
    await db.schema
      .alterTable('deliveries')
      .addColumn('sent_alone', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await sql`create index deliveries_in_digest on deliveries (digest_id, id)
      where digest_id is not null`.execute(db)
    await sql`create index deliveries_waiting_in_digest on deliveries (digest_id, id)
      where status = 'waiting' and digest_id is not null`.execute(db)
  },
})
