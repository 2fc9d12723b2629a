// Moves a link to the trash: its redirect stops at once, it keeps its slug, and its clicks stay in the workspace's totals.
// Or deletes it for good ("purges" it), from the trash too: then its slug is free.

import { recordChange } from '../../storage/database/record-change.ts'
import { type Actor, allow } from '../accounts/access/actor.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import { announceLink } from './announce-link.ts'
import type { LinkNeeds, LinkTransaction } from './create.ts'
import { getLinkForUpdate, getUnpurgedForUpdate } from './get.ts'
import { toLinkResource } from './link.ts'
import { refuseSuspendedLink } from './rules.ts'
import type { LinkResource } from './schema.ts'
import { requireVersion } from './version.ts'

interface DeleteOptions {
  /** For good, also from the trash. */
  permanent: boolean
  /** The header of the request: the link stays when somebody else has changed it since. */
  ifMatch?: string
  /** Who undoes an import expects no news. */
  isOfImport?: boolean
}

/**
 * @returns the link as it was
 * @throws Failure `not_found`; `forbidden` for a suspended link; `changed_since` where `ifMatch` names an older version
 */
export function deleteLink(
  needs: LinkNeeds,
  actor: Actor,
  id: number,
  options: Pick<DeleteOptions, 'permanent' | 'ifMatch'>,
): Promise<LinkResource> {
  return needs.db.write(async (connection, onCommit) => {
    const link = await deleteLinkIn({ ...needs, connection, onCommit }, actor, id, options)
    const target = { type: 'link', id, name: link.shortUrl } as const
    await recordAudit(connection, actor, { action: toDeleteAction(options.permanent), target }, needs.now())
    return link
  })
}

export const toDeleteAction = (permanent: boolean) => (permanent ? 'link.purged' : 'link.deleted')

/** Does the same inside an open transaction, without an event in the audit log. */
export async function deleteLinkIn(
  transaction: LinkTransaction,
  actor: Actor,
  id: number,
  { permanent, ifMatch, isOfImport = false }: DeleteOptions,
): Promise<LinkResource> {
  allow(actor, 'links:write')
  const { db, connection, onCommit, site, now } = transaction
  const link = permanent
    ? await getUnpurgedForUpdate(db, connection, actor, id)
    : await getLinkForUpdate(db, connection, actor, id)
  requireVersion(link, ifMatch)
  refuseSuspendedLink(link)
  const resource = await toLinkResource(connection, site, link)
  const at = now()
  const deleted = { deleted_at: link.deleted_at ?? at }
  await connection
    .updateTable('links')
    .set(permanent ? { ...deleted, ...toPurgedColumns(at) } : deleted)
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .execute()
  recordChange(onCommit, { domain: link.domain, slugKey: link.slug_key })
  // A link of the trash was told of when it came there.
  if (link.deleted_at === null && !isOfImport) {
    const event = { workspaceId: actor.workspaceId, event: 'link.deleted', at } as const
    await announceLink(transaction, event, () => resource)
  }
  return resource
}

/**
 * The row stays, because the clicks in the analytics need a name. Columns that only a restored link would need are
 * cleared.
 */
export const toPurgedColumns = (at: number) => ({
  purged_at: at,
  external_id: null,
  comments: null,
  password_hash: null,
  preview_title: null,
  preview_description: null,
  preview_image: null,
})
