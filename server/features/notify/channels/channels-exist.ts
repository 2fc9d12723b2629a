// Checks that every id names a channel of the workspace.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { REPLY_CHANNEL } from '../outbox/enqueue-reply.ts'

export async function channelsExist(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId'>,
  ids: number[],
): Promise<boolean> {
  if (ids.length === 0) return true
  const rows = await connection
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('type', '<>', REPLY_CHANNEL)
    .where('id', 'in', ids)
    .execute()
  return rows.length === new Set(ids).size
}
