// Which ids are those of channels of a workspace.

import type { Db } from '../../storage/rows/open.ts'
import type { Actor } from '../accounts/actor.ts'

export async function areChannels(
  db: Db,
  actor: Pick<Actor, 'workspaceId'>,
  ids: number[],
): Promise<boolean> {
  if (ids.length === 0) return true
  const found = await db
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', 'in', ids)
    .execute()
  return found.length === new Set(ids).size
}
