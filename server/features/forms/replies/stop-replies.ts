// A person stops the replies of a workspace to their address, for all its forms.

import type { Database } from '../../../storage/database/open-database.ts'
import type { ReplyLinks } from './reply-links.ts'

export interface StopNeeds {
  db: Database
  now: () => number
  links: ReplyLinks
}

/** @returns false for a token that is not ours, and for one of a deleted workspace */
export async function stopReplies({ db, now, links }: StopNeeds, token: string): Promise<boolean> {
  const link = links.readStopToken(token)
  if (!link) return false
  const { workspaceId, address } = link
  return db.write(async (connection) => {
    const workspace = await connection
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', workspaceId)
      .executeTakeFirst()
    if (!workspace) return false
    await connection
      .insertInto('reply_stops')
      .values({ workspace_id: workspaceId, address, stopped_at: now() })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'address']).doNothing())
      .execute()
    return true
  })
}
