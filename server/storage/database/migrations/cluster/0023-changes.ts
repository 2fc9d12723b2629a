// The change feed: processes learn of links and workspaces that another process has changed. The table of suspensions,
// which it replaces, stays for one release, because servers of the release before read it while they still run.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function changes(engine: DatabaseEngine) {
  const { bigint, text, postgres } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      const table = db.schema.createTable('changes')
      // No AUTOINCREMENT on SQLite: the newest row is never deleted, so that numbers are not used twice.
      const numbered = postgres
        ? table.addColumn('seq', 'bigint', (c) => c.primaryKey().generatedAlwaysAsIdentity())
        : table.addColumn('seq', 'integer', (c) => c.primaryKey())
      // The database's clock: nodes may differ about the time, and rows are pruned by it.
      const now = postgres
        ? sql`(date_part('epoch', clock_timestamp()) * 1000)::bigint`
        : sql`(cast(unixepoch('subsec') * 1000 as integer))`
      await numbered
        .addColumn('domain', text)
        .addColumn('slug_key', text)
        .addColumn('workspace_id', bigint)
        .addColumn('at', bigint, (c) => c.notNull().defaultTo(now))
        .execute()
      // The first row changes nothing. Without a workspace, it says that servers of the release before, which write no
      // rows, may still run (server/features/cluster/change-feed.ts).
      await sql`insert into changes (workspace_id)
        select case when exists (select 1 from workspaces) then null else 0 end`.execute(db)
    },
  }
}
