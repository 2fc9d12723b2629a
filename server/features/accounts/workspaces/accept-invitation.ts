// Accepts an invitation. It works once, and only for a person with the address that was invited.

import { Failure, notFound } from '../../../lib/failure.ts'
import type { Role } from '../../../lib/role.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { requireRoom } from '../access/workspace-limits.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { WorkspaceResource } from '../schema.ts'
import { describeWorkspaceIn, type WorkspaceNeeds } from './describe-workspace.ts'
import { getInvitation } from './invitations.ts'
import { getMember } from './members.ts'

/** @throws Failure `not_found`, `forbidden`, `conflict` */
export function acceptInvitation(
  needs: WorkspaceNeeds,
  userId: number,
  token: string,
): Promise<WorkspaceResource> {
  return needs.db.write(async (connection) => {
    const { email } = await connection
      .selectFrom('users')
      .select('email')
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    const membership = await acceptInvitationIn(connection, { token, userId, email, now: needs.now() })
    return describeWorkspaceIn(connection, needs, membership)
  })
}

/** Does the same inside an open transaction, such as a sign-up. @throws Failure `not_found`, `forbidden` */
export async function acceptInvitationIn(
  connection: Connection,
  { token, userId, email, now }: { token: string; userId: number; email: string; now: number },
): Promise<{ workspaceId: number; role: Role }> {
  const invitation = await getInvitation(connection, token, now)
  if (invitation.email !== email.toLowerCase()) {
    const message = 'This invitation is for another email address. Sign in with the one it was sent to.'
    throw new Failure('forbidden', message)
  }
  const { workspaceId } = invitation
  await joinWorkspaceIn(connection, invitation, userId, now)
  return { workspaceId, role: (await getMember(connection, workspaceId, userId)).role }
}

/** Makes the person a member, without a check of the token or the address. @throws Failure `not_found`, `conflict` */
export async function joinWorkspaceIn(
  connection: Connection,
  { id, workspaceId, role }: { id: number; workspaceId: number; role: Role },
  userId: number,
  now: number,
): Promise<void> {
  // When two requests accept at the same moment, only one of them still finds the invitation open.
  const accepted = await connection
    .updateTable('invitations')
    .set({ accepted_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (!accepted) throw notFound('Invitation')
  const joined = await connection
    .insertInto('members')
    .values({ workspace_id: workspaceId, user_id: userId, role, created_at: now })
    // A person who became a member in another way keeps their role.
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst()
  if (!joined) return
  await requireRoom(connection, workspaceId, 'members')
  const { email } = await getMember(connection, workspaceId, userId)
  const target = { type: 'member', id: userId, name: email } as const
  const actor = { kind: 'user', workspaceId, userId } as const
  await recordAudit(connection, actor, { action: 'member.joined', target, detail: { role } }, now)
}
