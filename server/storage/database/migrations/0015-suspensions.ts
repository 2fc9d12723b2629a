// The operator may suspend links, workspaces and people. A running server learns of it from `suspension_changes`.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

export function suspensions(engine: DatabaseEngine) {
  const { bigint, text, table } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      for (const name of ['links', 'workspaces', 'users']) {
        await db.schema.alterTable(name).addColumn('suspended_at', bigint).execute()
        await db.schema.alterTable(name).addColumn('suspended_reason', text).execute()
      }
      await table(db, 'suspension_changes')
        .addColumn('kind', text, (c) => c.notNull())
        .addColumn('target_id', bigint, (c) => c.notNull())
        .addColumn('at', bigint, (c) => c.notNull())
        .execute()
    },
  }
}
