// The clicks of a link with a limit: used up one by one in the database, so that no race lets one more through.

import { type ExpressionBuilder, sql } from 'kysely'
import type { Database } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import type { CachedLink } from './cache.ts'

/** A limit that was lifted since the link was read lets everybody through. */
const hasRoom = (eb: ExpressionBuilder<Tables, 'links'>) =>
  eb.or([eb('click_limit', 'is', null), eb('clicks_used', '<', eb.ref('click_limit'))])

/** Takes one click of the link's limit. @returns whether there was one left */
export async function useClick(db: Database, link: CachedLink): Promise<boolean> {
  const used = await db.write((connection) =>
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
  return used !== undefined
}

/** For visitors that use up nothing: robots, previews, HEAD. */
export async function hasClicksLeft(db: Database, link: CachedLink): Promise<boolean> {
  const left = await db.read
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', link.workspaceId)
    .where('id', '=', link.id)
    .where('deleted_at', 'is', null)
    .where(hasRoom)
    .executeTakeFirst()
  return left !== undefined
}
