// One link of a workspace.

import { notFound } from '../../lib/failure.ts'
import type { Db } from '../../storage/rows/open.ts'
import type { Actor } from '../accounts/actor.ts'
import type { LinkRow } from './link.ts'

/** @throws Failure `not_found`, the same for another workspace's link as for none. */
export async function findLink(db: Db, actor: Actor, id: number): Promise<LinkRow> {
  const row = await db
    .selectFrom('links')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!row) throw notFound('Link')
  return row
}
