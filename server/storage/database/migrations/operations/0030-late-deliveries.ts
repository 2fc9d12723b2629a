// What says that notifications wait too long: since when a channel falls behind, and indexes that count what waits
// without reading the deliveries.

import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function lateDeliveries(engine: DatabaseEngine) {
  const { bigint } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
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
