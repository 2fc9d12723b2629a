// Accepting an invitation: whoever has the link and the address it was made for becomes a member, once.

import { Failure, notFound } from '../../lib/failure.ts'
import type { Db } from '../../storage/rows/open.ts'
import type { Role } from './actor.ts'
import { describeIn, type WorkspaceNeeds } from './describe-workspace.ts'
import { findInvitation } from './invitations.ts'
import { findMember } from './members.ts'
import type { WorkspaceResource } from './schema.ts'

/** @throws Failure `not_found`, `forbidden` */
export function acceptInvitation(
  needs: WorkspaceNeeds,
  userId: number,
  token: string,
): Promise<WorkspaceResource> {
  return needs.rows.write(async (db) => {
    const { email } = await db
      .selectFrom('users')
      .select('email')
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    const joined = await acceptIn(db, { token, userId, email, now: needs.now() })
    return describeIn(db, needs, joined)
  })
}

/** The same from inside a transaction: signing up by invitation is one. */
export async function acceptIn(
  db: Db,
  { token, userId, email, now }: { token: string; userId: number; email: string; now: number },
): Promise<{ workspaceId: number; role: Role }> {
  const invitation = await findInvitation(db, token, now)
  if (invitation.email !== email.toLowerCase()) {
    const message = 'This invitation is for another e-mail address. Sign in with the one it was sent to.'
    throw new Failure('forbidden', message)
  }
  const { id, workspaceId, role } = invitation
  // Of two who accept at the same moment, one finds that it is open still.
  const accepted = await db
    .updateTable('invitations')
    .set({ accepted_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (!accepted) throw notFound('Invitation')
  await db
    .insertInto('members')
    .values({ workspace_id: workspaceId, user_id: userId, role, created_at: now })
    // Who was let in by other means meanwhile stays what they are.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return { workspaceId, role: (await findMember(db, workspaceId, userId)).role }
}
