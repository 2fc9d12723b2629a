// Invites a person by email address. The link works once, only for that address, for seven days.

import type { MailSender } from '../../../http/mail/send-mail.ts'
import { randomToken } from '../../../lib/crypto/random.ts'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { Failure } from '../../../lib/failure.ts'
import type { Role } from '../../../lib/role.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { MailBudget } from '../abuse/mail-budget.ts'
import { type Actor, allow } from '../access/actor.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'
import { requireRoom } from '../access/workspace-limits.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { CreateInvitationInput, NewInvitationResource } from '../schema.ts'
import { INVITATION_VALID_MS, selectInvitations, toInvitationResource } from './invitations.ts'
import { lockMembers } from './members.ts'

export interface InviteNeeds {
  db: Database
  now: () => number
  origin: string
  limiter: RateLimiter
  sendMail: MailSender | undefined
  mailBudget: Pick<MailBudget, 'hasRoom' | 'msUntilReset'>
}

/**
 * Invitations go to strangers in the operator's name. These limits stop people who use them to send spam, with one
 * workspace or with many.
 */
const INVITATIONS_A_DAY = 50

/** @throws Failure `forbidden`, `conflict`, `too_many` */
export async function invite(
  needs: InviteNeeds,
  actor: Actor,
  { email, role }: CreateInvitationInput,
): Promise<NewInvitationResource> {
  allow(actor, 'members:write')
  const { workspaceId } = actor
  await enforceDailyLimits(needs, actor)
  const token = randomToken(32)
  const created = await needs.db.write(async (connection) => {
    await lockMembers(connection, workspaceId)
    await refuseExistingMember(connection, workspaceId, email)
    const at = needs.now()
    const id = await replaceInvitation(connection, actor, { email, role, token, now: at })
    await requireRoom(connection, workspaceId, 'invitations')
    const target = { type: 'invitation', id, name: email } as const
    await recordAudit(connection, actor, { action: 'member.invited', target, detail: { role } }, at)
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
  // Outside the transaction, because a mail server can be slow.
  const mail = toInvitationMail(created, url, needs.origin)
  const source = { purpose: 'invitation', workspaceId } as const
  const mailed = needs.sendMail ? await needs.sendMail({ to: email, ...source, ...mail }) : false
  return { ...created.invitation, url, mailed }
}

/**
 * Deletes earlier invitations of the address: only the newest link of a person works. @returns the new invitation's id
 */
async function replaceInvitation(
  connection: Connection,
  actor: Actor,
  { email, role, token, now }: { email: string; role: Role; token: string; now: number },
): Promise<number> {
  const { workspaceId } = actor
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
      token_hash: sha256Hex(token),
      invited_by: actor.kind === 'user' ? actor.userId : null,
      created_at: now,
      expires_at: now + INVITATION_VALID_MS,
      accepted_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** @throws Failure `too_many` */
async function enforceDailyLimits({ limiter, sendMail, mailBudget }: InviteNeeds, actor: Actor) {
  const counted = [
    { key: `invitations:workspace:${actor.workspaceId}`, who: 'This workspace has' },
    ...(actor.kind === 'user' ? [{ key: `invitations:user:${actor.userId}`, who: 'You have' }] : []),
  ]
  if (sendMail && !(await mailBudget.hasRoom({ purpose: 'invitation', workspaceId: actor.workspaceId }))) {
    const message =
      'This server has sent all its emails for today. Invite people tomorrow, or ask the operator.'
    throw new Failure('too_many', message, { retryAfter: Math.ceil(mailBudget.msUntilReset() / 1000) })
  }
  for (const { key, who } of counted) {
    const { allowed, waitMs } = await limiter.take(key, INVITATIONS_A_DAY, DAY_MS)
    const message = `${who} sent ${INVITATIONS_A_DAY} invitations within a day. Try again later.`
    if (!allowed)
      throw new Failure('too_many', message, { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) })
  }
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
  const inviter = oneLine(invitation.invitedBy?.name ?? '') || 'Somebody'
  const name = oneLine(workspace)
  return {
    // No name of a person: its author would decide what strangers read in their inbox.
    subject: 'You’re invited to a workspace',
    text: `${inviter} invites you to the workspace "${name}" on ${origin}.

Accept the invitation within seven days:
${url}

The link works once, and only for this email address. If you weren’t expecting this invitation, ignore this email.
`,
  }
}
