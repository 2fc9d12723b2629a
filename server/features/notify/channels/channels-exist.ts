// Which ids are those of channels of a workspace.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'

export async function channelsExist(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId'>,
  ids: number[],
): Promise<boolean> {
  if (ids.length === 0) return true
  const found = await connection
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', 'in', ids)
    .execute()
  return found.length === new Set(ids).size
}
