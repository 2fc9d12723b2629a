// Accepting an invitation: whoever has the link and the address it was made for becomes a member, once.

import { Failure, notFound } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Role } from '../access/actor.ts'
import type { WorkspaceResource } from '../schema.ts'
import { describeWorkspaceIn, type WorkspaceNeeds } from './describe-workspace.ts'
import { getInvitation } from './invitations.ts'
import { getMember } from './members.ts'

/** @throws Failure `not_found`, `forbidden` */
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
    const joined = await acceptInvitationIn(connection, { token, userId, email, now: needs.now() })
    return describeWorkspaceIn(connection, needs, joined)
  })
}

/** The same from inside a transaction: signing up by invitation is one. */
export async function acceptInvitationIn(
  connection: Connection,
  { token, userId, email, now }: { token: string; userId: number; email: string; now: number },
): Promise<{ workspaceId: number; role: Role }> {
  const invitation = await getInvitation(connection, token, now)
  if (invitation.email !== email.toLowerCase()) {
    const message = 'This invitation is for another e-mail address. Sign in with the one it was sent to.'
    throw new Failure('forbidden', message)
  }
  const { id, workspaceId, role } = invitation
  // Of two who accept at the same moment, one finds that it is open still.
  const accepted = await connection
    .updateTable('invitations')
    .set({ accepted_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (!accepted) throw notFound('Invitation')
  await connection
    .insertInto('members')
    .values({ workspace_id: workspaceId, user_id: userId, role, created_at: now })
    // Who was let in by other means meanwhile stays what they are.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return { workspaceId, role: (await getMember(connection, workspaceId, userId)).role }
}
