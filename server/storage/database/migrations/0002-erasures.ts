// Tables for the erasure of deleted workspaces, and an index on all links of a workspace.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { createIndex, getColumnTypes } from './columns.ts'

export function erasures(engine: DatabaseEngine) {
  const { bigint, text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('erasures')
        .addColumn('workspace_id', bigint, (c) => c.primaryKey())
        .addColumn('requested_at', bigint, (c) => c.notNull())
        .execute()
      await db.schema
        .createTable('erasure_marks')
        .addColumn('workspace_id', bigint, (c) => c.notNull())
        .addColumn('node', text, (c) => c.notNull())
        .addColumn('done_at', bigint, (c) => c.notNull())
        .addPrimaryKeyConstraint('erasure_marks_key', ['workspace_id', 'node'])
        .execute()
      // The other indexes leave out deleted links. Exports name those too, and the deletion of a workspace removes
      // them.
      await createIndex(db, 'links', 'links_by_workspace', ['workspace_id', 'id'])
    },
  }
}
