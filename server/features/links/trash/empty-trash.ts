// Purges the links in the trash of a workspace: all of them, or those that were deleted before a moment.

import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { type AuditActor, recordAudit } from '../../accounts/audit/record-audit.ts'
import type { LinkNeeds } from '../create.ts'
import { toPurgedColumns } from '../delete.ts'

/** A write of SQLite holds up all other writes. */
const LINKS_AT_ONCE = 200

/** Leaves links that are suspended, and links that are deleted while this runs. */
export async function emptyTrash(needs: LinkNeeds, actor: Actor): Promise<{ purged: number }> {
  allow(actor, 'links:write')
  return { purged: await purgeDeletedBefore(needs, actor, needs.now() + 1) }
}

/** Purges some links a turn, so that redirects and other writes go on. @returns how many */
export async function purgeDeletedBefore(
  { db, now }: Pick<LinkNeeds, 'db' | 'now'>,
  actor: AuditActor,
  before: number,
): Promise<number> {
  for (let purged = 0; ; ) {
    const ids = await db.write((connection) => purgeSome(connection, actor, before, now()))
    purged += ids.length
    if (ids.length < LINKS_AT_ONCE) return purged
    await nextTurn()
  }
}

/** One event for all of them, in the transaction that purges them. */
async function purgeSome(connection: Connection, actor: AuditActor, before: number, at: number) {
  const { workspaceId } = actor
  const some = connection
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', '<', before)
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
    .where('suspended_at', 'is', null)
    .limit(LINKS_AT_ONCE)
  const rows = await connection
    .updateTable('links')
    .set(toPurgedColumns(at))
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', some)
    .returning('id')
    .execute()
  const ids = rows.map(({ id }) => String(id))
  if (ids.length > 0) {
    const detail = { count: ids.length, ids }
    await recordAudit(connection, actor, { action: 'link.purged', detail }, at)
  }
  return ids
}
