// Inviting somebody by their address: a link that works once, for them alone, for seven days.

import type { Mail, MailSender } from '../../../http/send-mail.ts'
import { Failure } from '../../../lib/failure.ts'
import { randomToken } from '../../../lib/random.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../access/actor.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'
import type { CreateInvitationInput, NewInvitationResource } from '../schema.ts'
import { hashToken, INVITATION_VALID_MS, selectInvitations, toInvitationResource } from './invitations.ts'
import { lockMembers } from './members.ts'

export interface InviteNeeds {
  db: Database
  now: () => number
  origin: string
  limiter: RateLimiter
  sendMail: MailSender | undefined
}

/** To strangers, in the operator's name: more than a day's work of inviting is something else. */
const MAILS_A_DAY = 50

/** @throws Failure `forbidden`, `conflict` */
export async function invite(
  needs: InviteNeeds,
  actor: Actor,
  { email, role }: CreateInvitationInput,
): Promise<NewInvitationResource> {
  allow(actor, 'members:write')
  const { workspaceId } = actor
  const token = randomToken(32)
  const at = needs.now()
  const made = await needs.db.write(async (connection) => {
    await lockMembers(connection, workspaceId)
    await refuseExistingMember(connection, workspaceId, email)
    // Of several links for one person the newest is the one that works.
    await connection
      .deleteFrom('invitations')
      .where('workspace_id', '=', workspaceId)
      .where('email', '=', email)
      .where('accepted_at', 'is', null)
      .execute()
    const { id } = await connection
      .insertInto('invitations')
      .values({
        workspace_id: workspaceId,
        email,
        role,
        token_hash: hashToken(token),
        invited_by: actor.kind === 'user' ? actor.userId : null,
        created_at: at,
        expires_at: at + INVITATION_VALID_MS,
        accepted_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const row = await selectInvitations(connection, workspaceId)
      .where('invitations.id', '=', id)
      .executeTakeFirstOrThrow()
    const { name } = await connection
      .selectFrom('workspaces')
      .select('name')
      .where('id', '=', workspaceId)
      .executeTakeFirstOrThrow()
    return { invitation: toInvitationResource(row), workspace: name }
  })
  const url = `${needs.origin}/app/join?token=${token}`
  // Not within the transaction: a mail server takes its time.
  const mailed = await sendInvitation(needs, actor, {
    to: email,
    ...toInvitationMail(made, url, needs.origin),
  })
  return { ...made.invitation, url, mailed }
}

async function sendInvitation(
  { limiter, sendMail }: InviteNeeds,
  actor: Actor,
  mail: Mail,
): Promise<boolean> {
  if (!sendMail) return false
  const inviter = actor.kind === 'user' ? `user:${actor.userId}` : `workspace:${actor.workspaceId}`
  const { allowed } = await limiter.take(`invitations:${inviter}`, MAILS_A_DAY, DAY_MS)
  return allowed && sendMail(mail)
}

async function refuseExistingMember(connection: Connection, workspaceId: number, email: string) {
  const member = await connection
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.id')
    .where('members.workspace_id', '=', workspaceId)
    .where('users.email', '=', email)
    .executeTakeFirst()
  if (member) throw new Failure('conflict', 'Already a member of this workspace')
}

function toInvitationMail(
  { invitation, workspace }: { invitation: { invitedBy: { name: string } | null }; workspace: string },
  url: string,
  origin: string,
) {
  const oneLine = (text: string) => text.replace(/[\s\p{C}]+/gu, ' ').trim()
  const who = oneLine(invitation.invitedBy?.name ?? '') || 'Somebody'
  const what = oneLine(workspace)
  return {
    subject: `${who} invites you to "${what}"`,
    text: `${who} invites you to the workspace "${what}" on ${origin}.

Accept the invitation within seven days:
${url}

The link works once, and only for this e-mail address. If you do not expect this invitation, ignore this e-mail.
`,
  }
}
