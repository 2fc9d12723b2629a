// Suspends a link: visitors get 451 instead of its destination. Only the operator can do this.

import { notFound } from '../../lib/failure.ts'
import { toShortUrl } from '../../lib/web-url.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import { recordChange } from '../../storage/database/record-change.ts'
import { recordSuspensionChange } from '../accounts/access/suspension.ts'
import { type AuditEntry, recordAudit } from '../accounts/audit/record-audit.ts'
import { findHolder } from './names/link-domain.ts'
import { toSlugKey } from './slug.ts'

export interface LinkSuspensionNeeds {
  db: Database
  now: () => number
  /** The server's own origin. */
  origin: string
}

/** How the operator names a link: as it answers now. The domain is '' for the default domain. */
export type LinkReference = { id: number } | { domain: string; slug: string }

export interface SuspendedLink {
  id: number
  shortUrl: string
  destinationUrl: string
  workspaceId: number
  suspended: boolean
  reason: string | null
}

/** Suspends a link again with another reason, too. @throws Failure `not_found` */
export const suspendLink = (needs: LinkSuspensionNeeds, name: LinkReference, reason: string | null) =>
  setSuspension(needs, name, { suspended_at: needs.now(), suspended_reason: reason })

/** @throws Failure `not_found` */
export const restoreLink = (needs: LinkSuspensionNeeds, name: LinkReference) =>
  setSuspension(needs, name, { suspended_at: null, suspended_reason: null })

/** True where the name is that of a link. */
export const linkExists = async ({ db }: Pick<LinkSuspensionNeeds, 'db'>, name: LinkReference) =>
  (await findLink(db.read, name)) !== undefined

function setSuspension(
  { db, now, origin }: LinkSuspensionNeeds,
  name: LinkReference,
  columns: { suspended_at: number | null; suspended_reason: string | null },
): Promise<SuspendedLink> {
  return db.write(async (connection, onCommit) => {
    const link = await findLink(connection, name)
    if (!link) throw notFound('Link')
    await connection
      .updateTable('links')
      .set(columns)
      .where('workspace_id', '=', link.workspace_id)
      .where('id', '=', link.id)
      .execute()
    const at = now()
    recordChange(onCommit, { domain: link.domain, slugKey: link.slug_key })
    await recordSuspensionChange(connection, { kind: 'link', id: link.id, at })
    const shortUrl = toShortUrl({ origin }, link)
    const operator = { kind: 'operator', workspaceId: link.workspace_id } as const
    const entry: AuditEntry = {
      action: columns.suspended_at === null ? 'link.restored' : 'link.suspended',
      target: { type: 'link', id: link.id, name: shortUrl },
    }
    await recordAudit(connection, operator, entry, at)
    return {
      id: link.id,
      shortUrl,
      destinationUrl: link.destination_url,
      workspaceId: link.workspace_id,
      suspended: columns.suspended_at !== null,
      reason: columns.suspended_reason,
    }
  })
}

async function findLink(connection: Connection, name: LinkReference) {
  const links = connection
    .selectFrom('links')
    .select(['id', 'domain', 'slug', 'slug_key', 'destination_url', 'workspace_id'])
    // A link in the trash can return: the operator can suspend it there.
    .where('purged_at', 'is', null)
  if ('id' in name) return links.where('id', '=', name.id).executeTakeFirst()
  const holder = await findHolder(connection, name.domain)
  if (!holder) return undefined
  const named = links
    .where('domain', '=', name.domain)
    .where('slug_key', '=', toSlugKey(name.slug, holder.caseSensitive))
  const { workspaceId } = holder
  return (workspaceId === null ? named : named.where('workspace_id', '=', workspaceId)).executeTakeFirst()
}
