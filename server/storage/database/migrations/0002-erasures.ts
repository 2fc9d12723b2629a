// Deleting workspaces: what is left to do for those whose rows are gone, and the index by which their links are found.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

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
      // All others are about the living; deleted links have names too, for exports, and go with their workspace.
      await db.schema.createIndex('links_by_workspace').on('links').columns(['workspace_id', 'id']).execute()
    },
  }
}
