// Removes a member from a workspace. Owners may remove any member, and every member may leave.

import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../access/actor.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { MemberResource } from '../schema.ts'
import { getMember, lockMembers, requireOwner } from './members.ts'

/**
 * Access ends with the member's next request. Links, forms and keys that the member created stay in the workspace.
 * @returns the member as they were. @throws Failure `forbidden`, `not_found`, `conflict`
 */
export function removeMember(
  { db, now }: { db: Database; now: () => number },
  actor: Actor,
  userId: number,
): Promise<MemberResource> {
  const isSelf = actor.kind === 'user' && actor.userId === userId
  if (!isSelf) allow(actor, 'members:write')
  const { workspaceId } = actor
  return db.write(async (connection) => {
    await lockMembers(connection, workspaceId)
    const member = await getMember(connection, workspaceId, userId)
    await connection
      .deleteFrom('members')
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', userId)
      .execute()
    await requireOwner(connection, workspaceId)
    const target = { type: 'member', id: userId, name: member.email } as const
    const detail = { role: member.role }
    await recordAudit(connection, actor, { action: 'member.removed', target, detail }, now())
    return member
  })
}
