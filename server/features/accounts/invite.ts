// Inviting somebody by their address: a link that works once, for them alone, for seven days.

import type { Mail, SendMail } from '../../http/mail.ts'
import { Failure } from '../../lib/failure.ts'
import { randomToken } from '../../lib/random.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import { type Actor, allow } from './actor.ts'
import { hashToken, INVITED_FOR_MS, invitationResource, invitations } from './invitations.ts'
import type { RateLimiter } from './limits.ts'
import { lockMembers } from './members.ts'
import type { CreateInvitationInput, NewInvitationResource } from './schema.ts'

export interface InviteNeeds {
  rows: Rows
  now: () => number
  origin: string
  limiter: RateLimiter
  sendMail: SendMail | undefined
}

/** To strangers, in the operator's name: more than a day's work of inviting is something else. */
const MAILS_A_DAY = 50
const DAY_MS = 24 * 60 * 60 * 1000

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
  const made = await needs.rows.write(async (db) => {
    await lockMembers(db, workspaceId)
    await refuseMember(db, workspaceId, email)
    // Of several links for one person the newest is the one that works.
    await db
      .deleteFrom('invitations')
      .where('workspace_id', '=', workspaceId)
      .where('email', '=', email)
      .where('accepted_at', 'is', null)
      .execute()
    const { id } = await db
      .insertInto('invitations')
      .values({
        workspace_id: workspaceId,
        email,
        role,
        token_hash: hashToken(token),
        invited_by: actor.kind === 'user' ? actor.userId : null,
        created_at: at,
        expires_at: at + INVITED_FOR_MS,
        accepted_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const row = await invitations(db, workspaceId).where('invitations.id', '=', id).executeTakeFirstOrThrow()
    const { name } = await db
      .selectFrom('workspaces')
      .select('name')
      .where('id', '=', workspaceId)
      .executeTakeFirstOrThrow()
    return { invitation: invitationResource(row), workspace: name }
  })
  const url = `${needs.origin}/app/join?token=${token}`
  // Not within the transaction: a mail server takes its time.
  const mailed = await mailTo(needs, actor, { to: email, ...mailOf(made, url, needs.origin) })
  return { ...made.invitation, url, mailed }
}

async function mailTo({ limiter, sendMail }: InviteNeeds, actor: Actor, mail: Mail): Promise<boolean> {
  if (!sendMail) return false
  const inviter = actor.kind === 'user' ? `user:${actor.userId}` : `workspace:${actor.workspaceId}`
  const { allowed } = await limiter.take(`invitations:${inviter}`, MAILS_A_DAY, DAY_MS)
  return allowed && sendMail(mail)
}

async function refuseMember(db: Db, workspaceId: number, email: string) {
  const member = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.id')
    .where('members.workspace_id', '=', workspaceId)
    .where('users.email', '=', email)
    .executeTakeFirst()
  if (member) throw new Failure('conflict', 'Already a member of this workspace')
}

function mailOf(
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

Join here, within seven days:
${url}

The link works once, and for this address alone. If you do not know what this is about, ignore it.
`,
  }
}
