// Deletes a link: its redirect stops at once, its slug is free again, and its clicks stay in the workspace's totals.

import { type Actor, allow } from '../accounts/access/actor.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import type { LinkNeeds, LinkTransaction } from './create.ts'
import { getLinkForUpdate } from './get.ts'
import { toLinkResource } from './link.ts'
import { refuseSuspendedLink } from './rules.ts'
import type { LinkResource } from './schema.ts'

/** @returns the link as it was. @throws Failure `not_found`; `forbidden` for a suspended link */
export function deleteLink(needs: LinkNeeds, actor: Actor, id: number): Promise<LinkResource> {
  return needs.db.write(async (connection, onCommit) => {
    const link = await deleteLinkIn({ ...needs, connection, onCommit }, actor, id)
    const target = { type: 'link', id, name: link.shortUrl } as const
    await recordAudit(connection, actor, { action: 'link.deleted', target }, needs.now())
    return link
  })
}

/** Does the same inside an open transaction, without an event in the audit log. */
export async function deleteLinkIn(
  { db, connection, onCommit, cache, site, now }: LinkTransaction,
  actor: Actor,
  id: number,
): Promise<LinkResource> {
  allow(actor, 'links:write')
  const link = await getLinkForUpdate(db, connection, actor, id)
  refuseSuspendedLink(link)
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
