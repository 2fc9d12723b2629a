// Changing what somebody may do in a workspace.

import type { Rows } from '../../storage/rows/open.ts'
import { type Actor, allow } from './actor.ts'
import { findMember, keepOwned, lockMembers } from './members.ts'
import type { MemberResource, UpdateMemberInput } from './schema.ts'

/** Binds with their next request. @throws Failure `forbidden`, `not_found`, `conflict` */
export function changeMember(
  { rows }: { rows: Rows },
  actor: Actor,
  userId: number,
  { role }: UpdateMemberInput,
): Promise<MemberResource> {
  allow(actor, 'members:write')
  const { workspaceId } = actor
  return rows.write(async (db) => {
    await lockMembers(db, workspaceId)
    const member = await findMember(db, workspaceId, userId)
    if (role === undefined || role === member.role) return member
    await db
      .updateTable('members')
      .set({ role })
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', userId)
      .execute()
    await keepOwned(db, workspaceId)
    return { ...member, role }
  })
}
