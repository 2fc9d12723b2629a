// Events on channels, the settings of channels of type http, the content of event deliveries, and the progress of the
// consumers of clicks and expirations.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes } from './columns.ts'

export const events = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    await addColumns(db, 'channels', ['events', 'filter', 'method', 'headers', 'body'], text)
    await addColumns(db, 'deliveries', ['payload'], text)
    await sql`create index deliveries_of_events on deliveries (created_at) where payload is not null`.execute(
      db,
    )
    await sql`create index links_expirations on links (expires_at, id) where expires_at is not null`.execute(
      db,
    )
    await db.schema
      .createTable('event_marks')
      .addColumn('consumer', text, (c) => c.primaryKey())
      .addColumn('position', bigint, (c) => c.notNull())
      .addColumn('step', bigint, (c) => c.notNull())
      .execute()
  },
})
