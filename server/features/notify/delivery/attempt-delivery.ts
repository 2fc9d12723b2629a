// One attempt to say something to one channel. Whatever goes wrong inside is an attempt that failed, not an error.

import { describeError, log } from '../../../lib/log.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type {
  ChannelDestination,
  ChannelSecrets,
  ChannelSender,
  DeliveryResult,
  SendNeeds,
} from '../channels/contract.ts'
import type { Sealing } from '../channels/secrets.ts'
import { listUrlSecrets, maskSecrets } from '../channels/service-response.ts'
import type { ChannelType } from '../schema.ts'
import { findChannelDisabledContent, listNoticeRecipients } from './channel-disabled-notice.ts'
import type { Claim } from './claim-deliveries.ts'
import { CHANNEL_DISABLED } from './enqueue-deliveries.ts'
import {
  createTestContent,
  type NoticeContent,
  type SubmissionContentReader,
  toChannelDestination,
} from './notice-content.ts'

export interface AttemptNeeds {
  db: Database
  sealing: Sealing
  sendBy: Record<ChannelType, ChannelSender>
  send: SendNeeds
  readSubmission: SubmissionContentReader
  /** Whom to tell that a channel was switched off. */
  ownerEmails: (workspaceId: number) => Promise<string[]>
}

/** Senders have limits of their own (15 s, mail 30 s). This one is for what has none, and is shorter than a lease. */
const TIMEOUT_MS = 45_000

type AttemptTarget = Pick<Claim, 'workspaceId' | 'submissionId' | 'event' | 'messageId' | 'channel'>

/** @returns undefined when there is nothing to say any more */
export async function attemptDelivery(
  needs: AttemptNeeds,
  claim: AttemptTarget,
  at: number,
): Promise<DeliveryResult | undefined> {
  let to: ChannelDestination | undefined
  try {
    const content = await readContent(needs, claim, at)
    if (!content) return undefined
    to = await findDestination(needs, claim, at)
    if (!to) return undefined
    const send =
      needs.sendBy[claim.event === CHANNEL_DISABLED ? 'email' : (claim.channel.type as ChannelType)]
    const notice = { ...content, event: claim.event as 'test', messageId: claim.messageId, at }
    return await withTimeout(send(needs.send, to, notice))
  } catch (error) {
    const { workspaceId, messageId, channel } = claim
    const said = Object.entries(describeError(error)).map(([name, value]) => [
      name,
      typeof value === 'string' ? maskSecrets(value, listSecretTexts(to?.secrets)) : value,
    ])
    const about = { workspace: workspaceId, channel: channel.id, type: channel.type, messageId }
    log.error('attempt_broke', { ...about, ...Object.fromEntries(said) })
    return { outcome: 'unreachable', httpStatus: null, answer: 'A fault of Towpath, which its log describes' }
  }
}

async function readContent(
  needs: AttemptNeeds,
  claim: AttemptTarget,
  at: number,
): Promise<NoticeContent | undefined> {
  const { workspaceId, submissionId, event, channel } = claim
  if (event === 'test') return createTestContent(channel, needs.send.origin, at)
  if (event === CHANNEL_DISABLED)
    return findChannelDisabledContent(needs.db.read, channel, needs.send.origin, at)
  return submissionId === null ? undefined : needs.readSubmission(workspaceId, submissionId)
}

async function findDestination(needs: AttemptNeeds, { event, channel }: AttemptTarget, at: number) {
  if (event !== CHANNEL_DISABLED) return toChannelDestination(needs.sealing, channel, at)
  const recipients = await listNoticeRecipients(needs, channel.workspace_id)
  return recipients.length === 0 ? undefined : { name: channel.name, recipients, chatId: null, secrets: {} }
}

const listSecretTexts = ({ url, botToken, secrets = [] }: ChannelSecrets = {}) => [
  ...(url === undefined ? [] : listUrlSecrets(url)),
  ...(botToken === undefined ? [] : [botToken]),
  ...secrets,
]

async function withTimeout(work: Promise<DeliveryResult>): Promise<DeliveryResult> {
  const { promise, resolve } = Promise.withResolvers<DeliveryResult>()
  const timer = setTimeout(
    () => resolve({ outcome: 'timeout', httpStatus: null, answer: 'There was no answer in time' }),
    TIMEOUT_MS,
  )
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
