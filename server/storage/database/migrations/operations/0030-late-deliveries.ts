// Alerts about late notifications: the start of a channel's backlog, and indexes that count waiting deliveries without
// reading them. Also indexes for the jobs that delete old rows.

import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

/** Old rows of these tables are deleted a slice at a time, and each slice looks for its rows. */
const AGES = {
  form_attempts_by_age: ['form_attempts', 'day'],
  sessions_by_creation: ['sessions', 'created_at'],
  invitations_by_age: ['invitations', 'expires_at'],
  invitations_by_acceptance: ['invitations', 'accepted_at'],
} as const

export function lateDeliveries(engine: DatabaseEngine) {
  const { bigint } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      for (const [name, [table, column]] of Object.entries(AGES))
        await db.schema.createIndex(name).on(table).column(column).execute()
      for (const column of ['behind_since', 'behind_noticed_at'])
        await db.schema.alterTable('channels').addColumn(column, bigint).execute()
      await sql`create index channels_behind on channels (id) where behind_since is not null`.execute(db)
      await sql`drop index deliveries_waiting`.execute(db)
      await sql`create index deliveries_waiting on deliveries (channel_id, due_at, id, event, created_at)
        where status = 'waiting'`.execute(db)
      // Each claim looks for notices: without this index it would read every delivery that waits.
      await sql`create index deliveries_notices on deliveries (due_at, id)
        where status = 'waiting' and event in ('channel.disabled', 'channel.behind')`.execute(db)
    },
  }
}
