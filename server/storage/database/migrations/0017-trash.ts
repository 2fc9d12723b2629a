// Deleted links wait in a trash and keep their slug. `purged_at` says since when a link is deleted for good.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

export const trash = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint } = getColumnTypes(engine)
    await db.schema.alterTable('links').addColumn('purged_at', bigint).execute()
    // Links that were deleted before there was a trash had lost their slug: another link may have it.
    await sql`update links set purged_at = deleted_at where deleted_at is not null`.execute(db)
    await db.schema.dropIndex('links_domain_slug').execute()
    await db.schema
      .createIndex('links_domain_slug')
      .unique()
      .on('links')
      .columns(['domain', 'slug_key'])
      .where(sql.ref('purged_at'), 'is', null)
      .execute()
    await db.schema
      .createIndex('links_in_trash')
      .on('links')
      .columns(['workspace_id', 'deleted_at', 'id'])
      .where(sql.ref('deleted_at'), 'is not', null)
      .where(sql.ref('purged_at'), 'is', null)
      .execute()
  },
})
