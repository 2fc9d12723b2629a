// Shows what a channel would send, with a template that is not saved yet.

import { sql } from 'kysely'
import { invalid, notFound } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { CHANNELS_WRITE, type ChannelRow, getChannel } from '../channels/channel.ts'
import type { Notice, NoticeContent, SubmissionContentReader } from '../channels/contract.ts'
import { toSubject } from '../channels/email.ts'
import { mailHtml, mailText } from '../channels/mail-body.ts'
import { formatHeadline } from '../channels/safe-text.ts'
import { webhookBody } from '../channels/webhook.ts'
import { fillBody } from '../http-body/fill-body.ts'
import { readBodyType } from '../http-body/request-headers.ts'
import type { PreviewChannelInput, PreviewResource } from '../schema.ts'
import { createLayout } from '../templates/create-layout.ts'

export interface PreviewNeeds {
  db: Database
  now: () => number
  send: { origin: string }
  readSubmission: SubmissionContentReader
}

/** Forms whose newest submissions are compared. */
const FORMS_MAX = 100

/** @throws Failure `not_found` for the channel or the submission, `invalid` for a template of a webhook */
export async function previewChannel(
  needs: PreviewNeeds,
  actor: Actor,
  id: number,
  { template, submissionId }: PreviewChannelInput,
): Promise<PreviewResource> {
  allow(actor, CHANNELS_WRITE)
  const { read } = needs.db
  const channel = await getChannel(read, actor, id)
  const isWebhook = channel.type === 'webhook'
  const isForPrograms = isWebhook || channel.type === 'http'
  if (isForPrograms && template) throw invalid({ template: `is not for channels of type ${channel.type}` })
  const shownId = submissionId ?? (await findNewestSubmission(read, actor, id))
  const content =
    shownId === null ? createSample(needs, channel) : await needs.readSubmission(actor.workspaceId, shownId)
  if (!content) throw notFound('Submission')
  const notice = {
    ...content,
    event: 'submission.created' as const,
    messageId: '',
    at: needs.now(),
    ...(template && { layout: createLayout({ ...template, subject: template.subject ?? null }, content) }),
  }
  if (isWebhook) return { submissionId: shownId, subject: notice.event, text: webhookBody(notice) }
  if (channel.type === 'http')
    return { submissionId: shownId, subject: notice.event, text: showBody(channel, notice) }
  const isMail = channel.type === 'email'
  return {
    submissionId: shownId,
    subject: isMail ? toSubject(notice) : formatHeadline(notice),
    text: mailText(notice),
    ...(isMail && { html: mailHtml(notice) }),
  }
}

function showBody({ body, headers }: ChannelRow, notice: Notice): string {
  const type = readBodyType(headers === null ? {} : JSON.parse(headers))
  return fillBody(body ?? '', type, notice) ?? 'The body would have more than 1 MiB'
}

/** The newest submission of the forms that name the channel. */
async function findNewestSubmission(
  connection: Connection,
  actor: Actor,
  channelId: number,
): Promise<number | null> {
  const newest = await connection
    .selectFrom('forms')
    .select((e) =>
      e
        .selectFrom('submissions')
        .select('submissions.id')
        .whereRef('submissions.form_id', '=', 'forms.id')
        .orderBy('submissions.created_at', 'desc')
        .orderBy('submissions.id', 'desc')
        .limit(1)
        .as('submission_id'),
    )
    .where('forms.workspace_id', '=', actor.workspaceId)
    .where(sql<boolean>`',' || trim(channel_ids, '[]') || ',' like ${`%,${channelId},%`}`)
    .limit(FORMS_MAX)
    .execute()
  const ids = newest.flatMap(({ submission_id }) => submission_id ?? [])
  return ids.length === 0 ? null : Math.max(...ids)
}

/** For a channel that no submission has come to yet. */
const createSample = ({ now, send }: PreviewNeeds, { workspace_id }: ChannelRow): NoticeContent => ({
  form: { formKey: 'k7m2xw9qpd', name: 'Contact' },
  submissionId: 1,
  number: null,
  createdAt: now(),
  fields: new Map([
    ['name', 'Ada Lovelace'],
    ['email', 'ada@example.com'],
    ['message', 'Please call me.\nIn the morning, if you can.'],
  ]),
  email: 'ada@example.com',
  attribution: 'newsletter / spring · Berlin, DE · iPhone',
  url: `${send.origin}/app/${workspace_id}/inbox`,
  submissionJson: JSON.stringify({
    email: 'ada@example.com',
    utmSource: 'newsletter',
    utmCampaign: 'spring',
  }),
})
