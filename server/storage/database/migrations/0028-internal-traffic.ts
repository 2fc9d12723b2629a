// Traffic that a workspace does not count: its own networks, ignored referrers, and visitors of the day who are members.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes, ofWorkspace } from './columns.ts'

export const internalTraffic = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text } = getColumnTypes(engine)
    await addColumns(db, 'workspaces', ['internal_networks', 'ignored_referrers'], text)
    await db.schema
      .createTable('internal_visitors')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('day', text, (c) => c.notNull())
      .addColumn('visitor', bigint, (c) => c.notNull())
      .addPrimaryKeyConstraint('internal_visitors_key', ['workspace_id', 'day', 'visitor'])
      .execute()
  },
})
