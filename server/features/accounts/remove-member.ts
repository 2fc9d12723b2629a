// Taking somebody out of a workspace. Anybody may leave by themselves.

import type { Rows } from '../../storage/rows/open.ts'
import { type Actor, allow } from './actor.ts'
import { findMember, keepOwned, lockMembers } from './members.ts'
import type { MemberResource } from './schema.ts'

/**
 * Binds with their next request. What they made stays: it is the workspace's.
 * @returns the member as they were. @throws Failure `forbidden`, `not_found`, `conflict`
 */
export function removeMember(
  { rows }: { rows: Rows },
  actor: Actor,
  userId: number,
): Promise<MemberResource> {
  const leaves = actor.kind === 'user' && actor.userId === userId
  if (!leaves) allow(actor, 'members:write')
  const { workspaceId } = actor
  return rows.write(async (db) => {
    await lockMembers(db, workspaceId)
    const member = await findMember(db, workspaceId, userId)
    await db
      .deleteFrom('members')
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', userId)
      .execute()
    await keepOwned(db, workspaceId)
    return member
  })
}
