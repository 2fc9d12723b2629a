// Deletes a view, and with it its shared page.

import { type Actor, allow } from '../accounts/access/actor.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import type { ViewNeeds } from './create-view.ts'
import type { ViewResource } from './schema.ts'
import { getView, toViewResource } from './view.ts'

/** @returns the view as it was. @throws Failure `forbidden`, `not_found` */
export function deleteView({ db, now, origin }: ViewNeeds, actor: Actor, id: number): Promise<ViewResource> {
  allow(actor, 'views:write')
  return db.write(async (connection) => {
    const view = await getView(connection, actor, id)
    await connection
      .deleteFrom('views')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
    const target = { type: 'view', id, name: view.name } as const
    const detail = { shared: view.share_token !== null }
    await recordAudit(connection, actor, { action: 'view.deleted', target, detail }, now())
    return toViewResource(origin, view)
  })
}
