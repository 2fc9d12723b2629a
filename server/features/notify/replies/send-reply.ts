// Sends a reply to the sender of a form. The sender decides one thing: the address, which is the only recipient.

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { MailBrand } from '../../accounts/brand/brand.ts'
import type { DeliveryResult, SendNeeds } from '../channels/contract.ts'
import { type Mailbox, type OutgoingMail, sendMailOnce } from '../channels/email.ts'
import type { NewReply, ReplyEvent } from '../outbox/enqueue-reply.ts'
import { renderReplyBody } from './reply-body.ts'

/** The content of a mail to a sender. Its texts are harmless already. */
export interface ReplyMail {
  to: string
  subject: string
  text: string
  /** Where the recipient stops the replies of the workspace, for people and for mail programs (RFC 8058). */
  stopUrl: string
  /** Where the recipient confirms the submission. */
  confirmUrl?: string
  brand: MailBrand
}

/** @returns undefined where the mail must not be sent any more */
export type ReplyReader = (reply: NewReply & { messageId: string }) => Promise<ReplyMail | undefined>

/**
 * How long a mail waits while the mails of the day are used up. A reply of the day before yesterday would only surprise. A
 * confirmation is what the submission waits for, and a reply of the team is what its sender waits for.
 */
const WAIT_MAX_MS: Record<ReplyEvent, number> = {
  reply: 36 * 60 * 60_000,
  confirm: 30 * DAY_MS,
  team_reply: 3 * DAY_MS,
}

export async function sendReply(
  needs: SendNeeds,
  reply: ReplyMail,
  attempt: { event: ReplyEvent; messageId: string; at: number },
): Promise<DeliveryResult> {
  const result = await sendMailOnce(needs, {
    recipients: 1,
    purpose: attempt.event === 'confirm' ? 'confirmation' : 'reply',
    hiddenUrls: [reply.confirmUrl, reply.stopUrl],
    toMail: (from) => toMail(needs, reply, attempt, from),
  })
  const { postponed } = result
  return postponed ? { ...result, postponed: { ...postponed, maxAgeMs: WAIT_MAX_MS[attempt.event] } } : result
}

const toMail = (
  { origin }: SendNeeds,
  reply: ReplyMail,
  { event, messageId, at }: { event: ReplyEvent; messageId: string; at: number },
  from: Mailbox,
): OutgoingMail => ({
  from: { name: reply.brand.senderName, address: from.address },
  to: [{ name: '', address: reply.to }],
  ...(reply.brand.replyTo !== null && { replyTo: { name: '', address: reply.brand.replyTo } }),
  subject: reply.subject,
  messageId: `<${messageId}@${new URL(origin).hostname}>`,
  date: new Date(at),
  headers: {
    // RFC 3834: no program answers a mail that says so, and X-Auto-Response-Suppress tells it to Exchange. A person has
    // written the reply of a team.
    ...(event !== 'team_reply' && { 'Auto-Submitted': 'auto-replied', 'X-Auto-Response-Suppress': 'All' }),
    'X-Entity-Ref-ID': messageId,
    'List-Unsubscribe': `<${reply.stopUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  },
  ...renderReplyBody(reply),
})
