// Deleting a link: its redirect stops at once, its slug is free again, its clicks stay in the workspace's totals.

import type { Connection, OnCommit } from '../../storage/database/open-database.ts'
import { type Actor, allow } from '../accounts/access/actor.ts'
import type { LinkNeeds } from './create.ts'
import { getLinkForUpdate } from './get.ts'
import { toLinkResource } from './link.ts'
import type { LinkResource } from './schema.ts'

/** @returns the link as it was. @throws Failure `not_found` */
export function deleteLink(needs: LinkNeeds, actor: Actor, id: number): Promise<LinkResource> {
  return needs.db.write((connection, onCommit) => deleteLinkIn(needs, connection, onCommit, actor, id))
}

/** The same inside a transaction that is already open. */
export async function deleteLinkIn(
  { db, cache, site, now }: LinkNeeds,
  connection: Connection,
  onCommit: OnCommit,
  actor: Actor,
  id: number,
): Promise<LinkResource> {
  allow(actor, 'links:write')
  const link = await getLinkForUpdate(db, connection, actor, id)
  const resource = await toLinkResource(connection, site, link)
  await connection
    .updateTable('links')
    .set({ deleted_at: now() })
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .execute()
  onCommit(() => cache.invalidate(link.domain, link.slug))
  return resource
}
