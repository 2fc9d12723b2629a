// Destinations of links that are watched: the setting of the workspace, and the last check of each destination.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, fromZero, getColumnTypes, ofWorkspace } from './columns.ts'

export const destinations = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await addColumns(db, 'workspaces', ['watch_destinations'], 'integer', fromZero)
    await table(db, 'destinations')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('url', text, (c) => c.notNull())
      .addColumn('url_hash', text, (c) => c.notNull())
      .addColumn('request_hash', text, (c) => c.notNull())
      .addColumn('host', text, (c) => c.notNull())
      .addColumn('links', bigint, (c) => c.notNull())
      .addColumn('state', 'integer', (c) => c.notNull())
      .addColumn('status', 'integer')
      .addColumn('message', text)
      .addColumn('checked_at', bigint)
      .addColumn('since', bigint)
      .addColumn('failures', 'integer', fromZero)
      .addColumn('next_check_at', bigint, (c) => c.notNull())
      .addColumn('reported_at', bigint)
      .execute()
    await sql`create unique index destinations_by_url on destinations (workspace_id, url_hash)`.execute(db)
    await sql`create index destinations_by_state on destinations (workspace_id, state, id)`.execute(db)
    await sql`create index destinations_due on destinations (next_check_at)`.execute(db)
    await sql`create index destinations_by_request on destinations (request_hash)`.execute(db)
  },
})
