// Sends a reply of the team to the sender of a submission, and keeps it with the submission. The address is the one that was
// sent with it: no request names another one.

import { Failure } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { RateLimiter } from '../../accounts/access/rate-limiter.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { findMember } from '../../accounts/workspaces/members.ts'
import { newMessageId } from '../../notify/outbox/enqueue-deliveries.ts'
import { enqueueReply } from '../../notify/outbox/enqueue-reply.ts'
import { type AddressHasher, isAnswerable } from '../replies/mailbox.ts'
import { isStopped } from '../replies/read-reply.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { throwSubmissionNotFound } from '../submissions/get-submission.ts'
import { listTeamReplies } from './list-team-replies.ts'
import { type CreateTeamReplyInput, REPLIES_PER_SUBMISSION_MAX, type TeamReplyResource } from './schema.ts'

export interface TeamReplyNeeds {
  db: Database
  now: () => number
  limiter: Pick<RateLimiter, 'take' | 'refund'>
  hashAddress: AddressHasher
  /** False where the operator has set up no mail server. */
  canMail: boolean
  wakeDeliverer: () => void
}

/** A team writes less. The limit stops programs and stolen keys. */
const PER_HOUR = 60
const HOUR_MS = 60 * 60_000

/** @throws Failure `not_found`, `conflict` where nobody can be answered, `too_many` */
export async function sendTeamReply(
  needs: TeamReplyNeeds,
  actor: Actor,
  submissionId: number,
  input: CreateTeamReplyInput,
): Promise<TeamReplyResource> {
  allow(actor, FORMS_WRITE)
  const limit = `team replies ${actor.workspaceId}`
  const permit = await needs.limiter.take(limit, PER_HOUR, HOUR_MS)
  try {
    return await needs.db.write(async (connection, onCommit) => {
      await requireAnswerable(needs, connection, actor, submissionId)
      if (!permit.allowed) throw toTooMany(permit.waitMs)
      const reply = await storeReply(connection, actor, { submissionId, input, at: needs.now() })
      onCommit(needs.wakeDeliverer)
      return reply
    })
  } catch (error) {
    if (permit.allowed) await needs.limiter.refund(limit, HOUR_MS)
    throw error
  }
}

const toTooMany = (waitMs: number) =>
  new Failure('too_many', `A workspace sends at most ${PER_HOUR} replies an hour. Try again later.`, {
    retryAfter: Math.ceil(waitMs / 1000),
  })

async function requireAnswerable(
  { canMail, hashAddress }: TeamReplyNeeds,
  connection: Connection,
  { workspaceId }: Actor,
  submissionId: number,
): Promise<void> {
  const submission = await connection
    .selectFrom('submissions')
    .select(['email', 'status'])
    .select((e) =>
      e
        .selectFrom('team_replies')
        .select((of) => of.fn.countAll<number>().as('n'))
        .whereRef('team_replies.submission_id', '=', 'submissions.id')
        .as('replies'),
    )
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', submissionId)
    .executeTakeFirst()
  if (!submission) throwSubmissionNotFound()
  const { email, status, replies } = submission
  const refuse = (message: string) => new Failure('conflict', message)
  if (!canMail) throw refuse(NO_MAIL)
  if (email === null) throw refuse('This submission has no email address')
  if (status === 'spam') throw refuse('This submission is spam. Mark it as not spam first.')
  if (status === 'unconfirmed') throw refuse('The sender has not confirmed the address yet')
  if (!isAnswerable(email)) throw refuse('Emails to this address are not read')
  if (Number(replies) >= REPLIES_PER_SUBMISSION_MAX)
    throw refuse(`A submission has at most ${REPLIES_PER_SUBMISSION_MAX} replies`)
  if (await isStopped(connection, workspaceId, hashAddress(workspaceId, email)))
    throw refuse('This person has stopped the emails of your forms')
}

const NO_MAIL =
  'Replies need a mail server, and this server has none. Its operator can set one up with SMTP_URL and MAIL_FROM, and start the server again.'

interface NewTeamReply {
  submissionId: number
  input: CreateTeamReplyInput
  at: number
}

async function storeReply(
  connection: Connection,
  actor: Actor,
  { submissionId, input, at }: NewTeamReply,
): Promise<TeamReplyResource> {
  const { workspaceId } = actor
  const messageId = newMessageId()
  await enqueueReply(connection, { workspaceId, submissionId, event: 'team_reply', at, messageId })
  await connection
    .insertInto('team_replies')
    .values({
      workspace_id: workspaceId,
      submission_id: submissionId,
      message_id: messageId,
      ...(await readAuthor(connection, actor)),
      ...input,
      created_at: at,
    })
    .execute()
  const target = { type: 'submission', id: submissionId } as const
  await recordAudit(connection, actor, { action: 'submission.replied', target }, at)
  return (await listTeamReplies(connection, actor, [submissionId])).at(-1) as TeamReplyResource
}

/** A key and the operator write in the name of the workspace alone. */
async function readAuthor(connection: Connection, actor: Actor) {
  const member =
    actor.kind === 'user' ? await findMember(connection, actor.workspaceId, actor.userId) : undefined
  return { author: member?.name ?? null, reply_to: member?.email ?? null }
}
