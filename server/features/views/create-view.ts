// Saves a view of analytics.

import type { Database } from '../../storage/database/open-database.ts'
import { type Actor, allow } from '../accounts/access/actor.ts'
import { requireRoom } from '../accounts/access/workspace-limits.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import type { CreateViewInput, ViewResource } from './schema.ts'
import { getView, toViewResource } from './view.ts'
import { hashSharePassword, NEW_VIEW, requireViewChannels, toViewColumns } from './view-columns.ts'

export interface ViewNeeds {
  db: Database
  now: () => number
  /** `https://go.example` */
  origin: string
}

/** @throws Failure `forbidden`, `invalid` */
export async function createView(
  { db, now, origin }: ViewNeeds,
  actor: Actor,
  input: CreateViewInput,
): Promise<ViewResource> {
  allow(actor, 'views:write')
  const passwordHash = await hashSharePassword(input)
  const { name } = input
  const columns = toViewColumns(NEW_VIEW, input, { passwordHash, now: now() })
  return db.write(async (connection) => {
    const at = now()
    await requireViewChannels(connection, actor, input)
    const { id } = await connection
      .insertInto('views')
      .values({
        ...columns,
        workspace_id: actor.workspaceId,
        user_id: actor.kind === 'user' ? actor.userId : null,
        name,
        created_at: at,
        updated_at: at,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await requireRoom(connection, actor.workspaceId, 'views')
    const target = { type: 'view', id, name } as const
    const detail = { shared: columns.share_token !== null }
    await recordAudit(connection, actor, { action: 'view.created', target, detail }, at)
    return toViewResource(origin, await getView(connection, actor, id))
  })
}
