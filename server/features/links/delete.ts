// Deleting a link: its redirect stops at once, its slug is free again, its clicks stay in the workspace's totals.

import type { Db, OnCommit } from '../../storage/rows/open.ts'
import { type Actor, allow } from '../accounts/actor.ts'
import type { LinkNeeds } from './create.ts'
import { findLinkToChange } from './find.ts'
import { linkResource } from './link.ts'
import type { LinkResource } from './schema.ts'

/** @returns the link as it was. @throws Failure `not_found` */
export function deleteLink(needs: LinkNeeds, actor: Actor, id: number): Promise<LinkResource> {
  return needs.rows.write((db, onCommit) => deleteLinkIn(needs, db, onCommit, actor, id))
}

/** The same inside a transaction that is already open. */
export async function deleteLinkIn(
  { rows, cache, site, now }: LinkNeeds,
  db: Db,
  onCommit: OnCommit,
  actor: Actor,
  id: number,
): Promise<LinkResource> {
  allow(actor, 'links:write')
  const link = await findLinkToChange(rows, db, actor, id)
  const resource = await linkResource(db, site, link)
  await db
    .updateTable('links')
    .set({ deleted_at: now() })
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .execute()
  onCommit(() => cache.forget(link.domain, link.slug))
  return resource
}
