// Changes the role of a member, for owners.

import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../access/actor.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { MemberResource, UpdateMemberInput } from '../schema.ts'
import { getMember, lockMembers, requireOwner } from './members.ts'

/** The new role applies from the member's next request. @throws Failure `forbidden`, `not_found`, `conflict` */
export function changeMember(
  { db, now }: { db: Database; now: () => number },
  actor: Actor,
  userId: number,
  { role }: UpdateMemberInput,
): Promise<MemberResource> {
  allow(actor, 'members:write')
  const { workspaceId } = actor
  return db.write(async (connection) => {
    await lockMembers(connection, workspaceId)
    const member = await getMember(connection, workspaceId, userId)
    if (role === undefined || role === member.role) return member
    await connection
      .updateTable('members')
      .set({ role })
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', userId)
      .execute()
    await requireOwner(connection, workspaceId)
    const entry = {
      action: 'member.role_changed',
      target: { type: 'member', id: userId, name: member.email },
      detail: { from: member.role, to: role },
    } as const
    await recordAudit(connection, actor, entry, now())
    return { ...member, role }
  })
}
