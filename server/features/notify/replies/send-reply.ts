// Sends a reply to the sender of a form, in the brand of the workspace or the form. The sender decides one thing: the address,
// which is the only recipient.

import { html } from 'hono/html'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { MailBrand } from '../../accounts/brand/brand.ts'
import type { DeliveryResult, SendNeeds } from '../channels/contract.ts'
import { type Mailbox, type OutgoingMail, sendMailOnce } from '../channels/email.ts'
import { MAIL_FONT, MAIL_META, MAIL_SOFT, toLines } from '../channels/mail-body.ts'
import type { NewReply, ReplyEvent } from '../outbox/enqueue-reply.ts'

/** The content of a mail to a sender. Its texts are harmless already. */
export interface ReplyMail {
  to: string
  subject: string
  text: string
  /** The link that stops the replies of the workspace, for people and for mail programs (RFC 8058). */
  stopUrl: string
  /** The link that confirms the submission. */
  confirmUrl?: string
  brand: MailBrand
}

/** @returns undefined where the mail must not be sent any more */
export type ReplyReader = (reply: NewReply & { messageId: string }) => Promise<ReplyMail | undefined>

/**
 * The longest wait of a mail while the mails of the day are used up. A reply of the day before yesterday would only surprise. A
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

const COLOR = '#17624a'

/**
 * Without anything of a brand, a mail has text alone. The HTML has the same words: its only links are those of this server,
 * and only the logo is loaded.
 */
function renderReplyBody(reply: ReplyMail): { text: string; html?: string } {
  const { name, logo, color, footer } = reply.brand
  const text = footer === null ? reply.text : `${reply.text.trimEnd()}\n\n-- \n${footer}\n`
  if (name === null && logo === null && color === null) return { text }
  return { text, html: renderHtml(reply) }
}

function renderHtml({ text, confirmUrl, stopUrl, brand }: ReplyMail): string {
  const { name, logo, color, footer } = brand
  const header = logo
    ? html`<p style="margin:0 0 24px"><img src="${logo}" alt="${name ?? ''}" height="40" style="max-height:40px;max-width:240px;border:0"></p>`
    : name && html`<p style="margin:0 0 24px;font-weight:600">${name}</p>`
  const link = `color:${color ?? COLOR}`
  // Only our own addresses become links.
  const urls = [confirmUrl, stopUrl].filter((url) => url !== undefined)
  const pieces = urls.reduce<(string | { url: string })[]>(
    (parts, url) => parts.flatMap((part) => (typeof part === 'string' ? splitAt(part, url) : [part])),
    [text.trimEnd()],
  )
  const body = pieces.map((piece) =>
    typeof piece === 'string'
      ? toLines(piece)
      : html`<a href="${piece.url}" style="${link}">${piece.url}</a>`,
  )
  return String(html`<!doctype html>
<html>
<head>${MAIL_META}</head>
<body style="${MAIL_FONT};color:#1c2421;margin:0;padding:16px">
<div style="max-width:600px">${color && html`<div style="height:4px;background:${color};margin:0 0 24px"></div>`}${header ?? ''}
<div dir="auto" style="overflow-wrap:anywhere">${body}</div>
${footer && html`<p dir="auto" style="${MAIL_SOFT};margin:24px 0 0">${toLines(footer)}</p>`}
</div>
</body>
</html>
`)
}

const splitAt = (text: string, url: string) =>
  text.split(url).flatMap((part, at) => (at === 0 ? [part] : [{ url }, part]))
