// Pinned tags, which the sidebar shows.

import { type Kysely, sql } from 'kysely'
import { addColumns, fromZero } from './columns.ts'

export const pinnedTags = () => ({
  async up(db: Kysely<unknown>) {
    await addColumns(db, 'tags', ['pinned'], 'integer', fromZero)
    await sql`create index tags_pinned on tags (workspace_id) where pinned = 1`.execute(db)
  },
})
