// Counts the clicks of a link with a limit, one by one in the database, so that parallel clicks cannot exceed the
// limit.

import { type ExpressionBuilder, sql } from 'kysely'
import type { Database } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import type { CachedLink } from './cache.ts'

/** True without a limit too: the limit may have been removed after the cache read the link. */
const hasRoom = (eb: ExpressionBuilder<Tables, 'links'>) =>
  eb.or([eb('click_limit', 'is', null), eb('clicks_used', '<', eb.ref('click_limit'))])

/** Uses one click of the link's limit. @returns false when no click was left */
export async function useClick(db: Database, link: CachedLink): Promise<boolean> {
  const row = await db.write((connection) =>
    connection
      .updateTable('links')
      .set({ clicks_used: sql`clicks_used + 1` })
      .where('workspace_id', '=', link.workspaceId)
      .where('id', '=', link.id)
      .where('deleted_at', 'is', null)
      .where(hasRoom)
      .returning('id')
      .executeTakeFirst(),
  )
  return row !== undefined
}

/** For requests that use no click: bots, link previews, HEAD. */
export async function hasClicksLeft(db: Database, link: CachedLink): Promise<boolean> {
  const row = await db.read
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', link.workspaceId)
    .where('id', '=', link.id)
    .where('deleted_at', 'is', null)
    .where(hasRoom)
    .executeTakeFirst()
  return row !== undefined
}
