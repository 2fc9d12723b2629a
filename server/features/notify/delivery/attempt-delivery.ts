// One attempt to send one notification to one channel. An exception inside becomes a failed attempt.

import { withTimeout } from '../../../lib/concurrency/with-timeout.ts'
import { describeError, log } from '../../../lib/log.ts'
import { parseChannelTemplate, toChannelDestination } from '../channels/channel.ts'
import type {
  ChannelDestination,
  ChannelSecrets,
  ChannelSender,
  DeliveryResult,
  Notice,
  NoticeContent,
  SendNeeds,
  SubmissionContentReader,
} from '../channels/contract.ts'
import { listHeaderSecrets } from '../channels/http.ts'
import type { Sealing } from '../channels/secrets.ts'
import { listUrlSecrets, maskSecrets, toResult } from '../channels/service-response.ts'
import { createTestNotice, findEventNotice } from '../content/notice-content.ts'
import { findReportContent } from '../content/report-content.ts'
import { readDigestContent } from '../digests/digest-content.ts'
import { isWorkspaceEvent } from '../events/channel-events.ts'
import { passesFilter } from '../events/channel-filter.ts'
import {
  CHANNEL_BEHIND,
  CHANNEL_DISABLED,
  isOwnerNotice,
  SUBMISSION_CREATED,
  SUBMISSION_DIGEST,
  VIEW_ALERT,
  VIEW_REPORT,
} from '../outbox/enqueue-deliveries.ts'
import { isReplyEvent, type ReplyEvent } from '../outbox/enqueue-reply.ts'
import type { RecipientNeeds } from '../recipients/ask-recipients.ts'
import { pickRecipients, readRecipientStates } from '../recipients/recipient-states.ts'
import { type ReplyReader, sendReply } from '../replies/send-reply.ts'
import type { ChannelType } from '../schema.ts'
import { createLayout } from '../templates/create-layout.ts'
import {
  findChannelBehindContent,
  findChannelDisabledContent,
  listNoticeRecipients,
  type NoticeRecipientNeeds,
} from './channel-notices.ts'
import type { Claim } from './claim-deliveries.ts'
import { RETRY_DELAYS } from './retry-schedule.ts'

export interface AttemptNeeds extends NoticeRecipientNeeds {
  sealing: Sealing
  senders: Record<ChannelType, ChannelSender>
  send: SendNeeds
  readSubmission: SubmissionContentReader
  readReply: ReplyReader
  recipients: RecipientNeeds
}

/** Senders have limits of their own (15 s, mail 30 s). This limit is for the rest, and is shorter than a lease. */
const TIMEOUT_MS = 45_000

type AttemptTarget = Pick<Claim, 'id' | 'workspaceId' | 'submissionId' | 'event' | 'messageId' | 'channel'>

export interface AttemptResult {
  result: DeliveryResult
  /** The time that the receiver took, without reading the content. */
  tookMs: number
}

/** Facts about a running attempt. */
interface AttemptProgress {
  /** On the monotonic clock. */
  sendingSince: number
  to?: ChannelDestination
}

/** @returns undefined when the reason for the notification is gone */
export async function attemptDelivery(
  needs: AttemptNeeds,
  claim: AttemptTarget,
  at: number,
): Promise<AttemptResult | undefined> {
  const progress: AttemptProgress = { sendingSince: performance.now() }
  const result = await sendContent(needs, claim, at, progress).catch((error): DeliveryResult => {
    logFault(claim, error, progress.to?.secrets)
    return toResult('unreachable', 'An internal error: see the log of the server')
  })
  return result && { result, tookMs: performance.now() - progress.sendingSince }
}

async function sendContent(
  needs: AttemptNeeds,
  claim: AttemptTarget,
  at: number,
  progress: AttemptProgress,
): Promise<DeliveryResult | undefined> {
  if (isReplyEvent(claim.event)) return sendReplyMail(needs, claim, at, progress)
  const content = await readContent(needs, claim, at)
  if (!content) return undefined
  const to = await findDestination(needs, claim, at)
  if (!to) return undefined
  progress.to = to
  if (to.recipients.length === 0 && claim.channel.type === 'email') return NOBODY_CONFIRMED
  const type = isOwnerNotice(claim.event) ? 'email' : (claim.channel.type as ChannelType)
  const notice = toNotice(claim, content, at)
  progress.sendingSince = performance.now()
  const send = { ...needs.send, workspaceId: claim.workspaceId }
  return withTimeout(needs.senders[type](send, to, notice), TIMEOUT_MS, () => TIMED_OUT)
}

function toNotice({ event, messageId, channel }: AttemptTarget, content: NoticeContent, at: number): Notice {
  // A digest of one submission is a notification of it, so that it can be answered.
  const isOfOne = event === SUBMISSION_DIGEST && content.total === undefined
  const notice = {
    ...content,
    event: (isOfOne ? SUBMISSION_CREATED : event) as Notice['event'],
    messageId,
    at,
  }
  const template = parseChannelTemplate(channel)
  // A template is about a submission.
  const hasNoForm = content.total !== undefined || event === VIEW_REPORT || event === VIEW_ALERT
  if (template === null || isOwnerNotice(event) || hasNoForm) return notice
  return { ...notice, layout: createLayout(template, content) }
}

async function sendReplyMail(
  { readReply, send }: AttemptNeeds,
  { workspaceId, submissionId, event, messageId }: AttemptTarget,
  at: number,
  progress: AttemptProgress,
): Promise<DeliveryResult | undefined> {
  if (submissionId === null) return undefined
  const about = { workspaceId, submissionId, event: event as ReplyEvent, at, messageId }
  const reply = await readReply(about)
  if (!reply) return undefined
  progress.sendingSince = performance.now()
  const attempt = { event: about.event, messageId, at }
  return withTimeout(sendReply({ ...send, workspaceId }, reply, attempt), TIMEOUT_MS, () => TIMED_OUT)
}

const NOBODY_CONFIRMED = toResult('refused', 'No recipient of this channel has confirmed yet', {
  // A confirmation ends the wait at once. The limit is the length of the retry schedule.
  postponed: { ms: 60 * 60_000, maxAgeMs: RETRY_DELAYS.reduce((sum: number, delay) => sum + delay, 0) },
})

const TIMED_OUT = toResult('timeout', 'There was no answer in time')

/** Writes the error to the log, without the channel's secrets. */
function logFault(
  { workspaceId, messageId, channel }: AttemptTarget,
  error: unknown,
  secrets?: ChannelSecrets,
) {
  const texts = listSecretTexts(secrets)
  const masked = Object.entries(describeError(error)).map(([name, value]) => [
    name,
    typeof value === 'string' ? maskSecrets(value, texts) : value,
  ])
  const about = { workspace: workspaceId, channel: channel.id, type: channel.type, messageId }
  log.error('attempt_broke', { ...about, ...Object.fromEntries(masked) })
}

async function readContent(
  needs: AttemptNeeds,
  claim: AttemptTarget,
  at: number,
): Promise<NoticeContent | undefined> {
  const { id, workspaceId, submissionId, event, channel } = claim
  if (event === 'test') return createTestNotice(channel, needs.send.origin, at)
  if (event === CHANNEL_DISABLED)
    return findChannelDisabledContent(needs.db.read, channel, needs.send.origin, at)
  if (event === CHANNEL_BEHIND) return findChannelBehindContent(needs.db.read, channel, needs.send.origin, at)
  if (event === VIEW_REPORT) return findReportContent(needs.db.read, { id, workspaceId })
  if (event === SUBMISSION_DIGEST) {
    const digest = { id, workspaceId, template: parseChannelTemplate(channel) }
    return readDigestContent({ ...needs, origin: needs.send.origin }, digest)
  }
  if (event === VIEW_ALERT || isWorkspaceEvent(event))
    return findEventNotice(needs.db.read, claim, needs.send.origin)
  const content = submissionId === null ? undefined : await needs.readSubmission(workspaceId, submissionId)
  // Now its link is known as well as it will be. A submission that does not pass is as one that is gone.
  return content && passesFilter(channel.filter, content.facts ?? {}) ? content : undefined
}

async function findDestination(needs: AttemptNeeds, { event, channel }: AttemptTarget, at: number) {
  if (!isOwnerNotice(event)) {
    const to = toChannelDestination(needs, channel, at)
    return channel.type === 'email' ? keepConfirmed(needs, { event, channel }, to) : to
  }
  const recipients = await listNoticeRecipients(needs, channel.workspace_id)
  return recipients.length === 0 ? undefined : { name: channel.name, recipients, chatId: null, secrets: {} }
}

/** They come by a schedule, so that each recipient stops them with one click in the mail program (RFC 8058). */
const SENT_TO_EACH: string[] = [VIEW_REPORT, VIEW_ALERT]

/** Without a mail server the sender says so, even if recipients have confirmed. */
async function keepConfirmed(
  { db, send, recipients: { links } }: AttemptNeeds,
  { event, channel: { workspace_id: workspaceId } }: Pick<AttemptTarget, 'event' | 'channel'>,
  to: ChannelDestination,
): Promise<ChannelDestination> {
  if (!send.smtpUrl) return to
  const states = await readRecipientStates(db.read, workspaceId, to.recipients)
  const recipients = pickRecipients(states, 'confirmed')
  if (recipients.length === 0) return { ...to, recipients }
  const toStop = (emails: string[]) => {
    const token = links.createToken({ workspaceId, emails: emails.map((each) => each.toLowerCase()) })
    return { url: links.toPage(token), oneClickUrl: emails.length === 1 ? links.toOneClick(token) : null }
  }
  const isToEach = recipients.length > 1 && SENT_TO_EACH.includes(event)
  return {
    ...to,
    recipients,
    ...(isToEach ? { ownStops: recipients.map((each) => toStop([each])) } : { stop: toStop(recipients) }),
  }
}

const listSecretTexts = ({ url, botToken, secrets = [], headers = {} }: ChannelSecrets = {}) => [
  ...listHeaderSecrets(headers),
  ...(url === undefined ? [] : listUrlSecrets(url)),
  ...(botToken === undefined ? [] : [botToken]),
  ...secrets,
]
