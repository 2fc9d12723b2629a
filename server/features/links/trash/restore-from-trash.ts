// Returns a link from the trash with its slug, its settings and its history: its redirect works with the next request.

import { sql } from 'kysely'
import { notFound } from '../../../lib/failure.ts'
import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { announceLink } from '../announce-link.ts'
import { runAllOrNothing, toDistinct } from '../bulk.ts'
import type { LinkNeeds, LinkTransaction } from '../create.ts'
import { getUnpurgedForUpdate } from '../get.ts'
import { toLinkResource } from '../link.ts'
import type { LinkResource } from '../schema.ts'
import { toNextVersion } from '../version.ts'

/** @throws Failure `not_found` for a link that is not in the trash */
export const restoreFromTrash = (needs: LinkNeeds, actor: Actor, id: number) =>
  restoreWith(needs, needs.db, actor, id)

/** All or none. @throws Failure with `errors` by index */
export const restoreAllFromTrash = (needs: LinkNeeds, actor: Actor, ids: number[]) =>
  runAllOrNothing(needs.db, toDistinct(ids), (db, id) => restoreWith(needs, db, actor, id))

async function restoreWith(needs: LinkNeeds, db: Database, actor: Actor, id: number): Promise<LinkResource> {
  const restore = () =>
    db.write((connection, onCommit) => restoreIn({ ...needs, connection, onCommit }, actor, id))
  try {
    return await restore()
  } catch (error) {
    // Another link took the external id at this moment. The second try finds that link.
    if (isUniqueViolation(error)) return restore()
    throw error
  }
}

async function restoreIn(transaction: LinkTransaction, actor: Actor, id: number): Promise<LinkResource> {
  allow(actor, 'links:write')
  const { db, connection, onCommit, site, now } = transaction
  const link = await getUnpurgedForUpdate(db, connection, actor, id)
  if (link.deleted_at === null) throw notFound('Link')
  const restored = await connection
    .updateTable('links')
    .set({
      deleted_at: null,
      updated_at: toNextVersion(link, now()),
      // The slug was held, so it is free. A link that has taken the external id keeps it.
      external_id: sql`case when exists (
        select 1 from links as other where other.workspace_id = ${actor.workspaceId}
          and other.external_id = links.external_id and other.deleted_at is null
      ) then null else external_id end`,
    })
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  const { clicks, last_clicked_at } = link
  const resource = await toLinkResource(connection, site, { ...restored, clicks, last_clicked_at })
  const target = { type: 'link', id, name: resource.shortUrl } as const
  await recordAudit(connection, actor, { action: 'link.undeleted', target }, now())
  recordChange(onCommit, { domain: link.domain, slugKey: link.slug_key })
  // Announces the return to channels that were notified of the deletion.
  const event = { workspaceId: actor.workspaceId, event: 'link.created', at: now() } as const
  await announceLink(transaction, event, () => resource)
  return resource
}
