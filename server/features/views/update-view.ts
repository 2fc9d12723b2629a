// Changes a view, and gives its shared page or takes it away.

import { type Actor, allow } from '../accounts/access/actor.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import type { ViewNeeds } from './create-view.ts'
import type { UpdateViewInput, ViewResource } from './schema.ts'
import { getView, toViewResource } from './view.ts'
import { hashSharePassword, requireViewChannels, toViewColumns } from './view-columns.ts'

/** @throws Failure `forbidden`, `not_found`, `invalid` */
export async function updateView(
  { db, now, origin }: ViewNeeds,
  actor: Actor,
  id: number,
  input: UpdateViewInput,
): Promise<ViewResource> {
  allow(actor, 'views:write')
  const passwordHash = await hashSharePassword(input)
  return db.write(async (connection) => {
    const view = await getView(connection, actor, id)
    const fields = Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    if (fields.length === 0) return toViewResource(origin, view)
    const { name = view.name } = input
    const at = now()
    const columns = toViewColumns(view, input, { passwordHash, now: at })
    await requireViewChannels(connection, actor, input)
    await connection
      .updateTable('views')
      .set({ ...columns, name, updated_at: at })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
    const target = { type: 'view', id, name } as const
    const detail = { fields: fields.sort(), shared: columns.share_token !== null }
    await recordAudit(connection, actor, { action: 'view.updated', target, detail }, at)
    return toViewResource(origin, await getView(connection, actor, id))
  })
}
