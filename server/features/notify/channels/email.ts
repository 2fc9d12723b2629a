// Sends email through the operator's SMTP server. A submission never decides the sender or the recipients of a mail.

import addressparser from 'nodemailer/lib/addressparser'
import type { MailPurpose } from '../../../http/mail/send-mail.ts'
import { listSmtpSecrets, openMailer } from '../../../http/mail/smtp.ts'
import { describeError, log } from '../../../lib/log.ts'
import type {
  ChannelDestination,
  ChannelSender,
  DeliveryResult,
  Notice,
  SendNeeds,
  StopLink,
} from './contract.ts'
import { mailHtml, mailText } from './mail-body.ts'
import { toReportSubject } from './report-body.ts'
import { toOneLine, truncateText } from './safe-text.ts'
import { toSenderName } from './sender-name.ts'
import { toSentRequest } from './sent-request.ts'
import { sanitizeResponse, toResult } from './service-response.ts'

/** Longer than the limit of an HTTP request: some mail servers greet slowly on purpose, against spam. */
const TIMEOUT_MS = 30_000

export const sendEmail: ChannelSender = (needs, to, notice) =>
  to.ownStops ? sendToEach(needs, to, notice) : sendToAll(needs, to, notice)

/** Delivered where one mail is: a retry would send it again to the recipients that have it. */
async function sendToEach(
  { mailBudget, ...needs }: SendNeeds,
  { ownStops = [], ...to }: ChannelDestination,
  notice: Notice,
): Promise<DeliveryResult> {
  if (!(await takeMails({ ...needs, mailBudget }, to.recipients.length, 'notification')))
    return postpone(mailBudget?.msUntilReset() ?? 0)
  const results = await Promise.all(
    to.recipients.map((recipient, i) =>
      sendToAll(needs, { ...to, recipients: [recipient], stop: ownStops[i] }, notice),
    ),
  )
  const delivered = results.find(({ outcome }) => outcome === 'delivered')
  const lines = results.map(({ answer }, i) => `${to.recipients[i]}: ${answer}`)
  const failed = results.find(({ permanent }) => !permanent) ?? results[0]
  return delivered ? { ...delivered, answer: lines.join('\n') } : (failed as DeliveryResult)
}

const sendToAll: ChannelSender = async (needs, to, notice) => {
  const send = (attachments: Attachment[]) =>
    sendMailOnce(needs, {
      recipients: to.recipients.length,
      purpose: 'notification',
      hiddenUrls: [to.stop?.oneClickUrl, to.stop?.url],
      toMail: (from) => ({ ...toMail(needs, to, notice, from), attachments }),
    })
  const attachments = await readAttachments(needs, to, notice)
  const result = await send(attachments)
  // A mail server may take no mail of this size, or no file of this kind. The links are in every mail.
  const isRefused = attachments.length > 0 && result.permanent?.what === 'message'
  return isRefused ? send([]) : result
}

interface Attachment {
  filename: string
  content: Buffer
  /** Mail programs open nothing of this type by themselves. */
  contentType: 'application/octet-stream'
}

/** @returns all files or none, so that no reader takes the attached ones for all */
async function readAttachments(
  { readFile }: SendNeeds,
  { attachUpTo = 0 }: ChannelDestination,
  { files = [] }: Notice,
): Promise<Attachment[]> {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  if (!readFile || files.length === 0 || total > attachUpTo) return []
  try {
    return await Promise.all(
      files.map(async ({ name, key }) => ({
        filename: name,
        content: Buffer.from(await readFile(key)),
        contentType: 'application/octet-stream' as const,
      })),
    )
  } catch (error) {
    log.warn('files_not_attached', describeError(error))
    return []
  }
}

export interface OutgoingMail {
  from: Mailbox
  to: Mailbox[]
  replyTo?: Mailbox
  subject: string
  messageId: string
  date: Date
  headers: Record<string, string>
  text: string
  html?: string
  attachments?: Attachment[]
}

interface MailAttempt {
  recipients: number
  purpose: MailPurpose
  /** Links that only the recipient may see. */
  hiddenUrls: (string | null | undefined)[]
  toMail: (from: Mailbox) => OutgoingMail
}

/** One attempt to hand a mail to the operator's mail server. */
export async function sendMailOnce(
  needs: SendNeeds,
  { recipients, purpose, hiddenUrls, toMail }: MailAttempt,
): Promise<DeliveryResult> {
  const { smtpUrl, mailFrom } = needs
  const from = addressparser(mailFrom ?? '', { flatten: true })[0]
  if (!smtpUrl || !from?.address) {
    const answer = 'This server cannot send email: its operator has set no SMTP_URL and MAIL_FROM'
    return toResult('unreachable', answer, { operatorFault: true })
  }
  const { mailBudget } = needs
  if (mailBudget && !(await takeMails(needs, recipients, purpose))) return postpone(mailBudget.msUntilReset())
  const secrets = listSmtpSecrets(smtpUrl)
  const mail = toMail(from)
  const request = describeMail(mail, hiddenUrls)
  try {
    const signal = AbortSignal.timeout(needs.timeoutMs ?? TIMEOUT_MS)
    const mailer = await openMailer(smtpUrl)
    const sent = await mailer.sendMail({ ...mail, signal })
    // A retry would send the mail again to the recipients that have it, so refused recipients are only reported.
    const refused = sent.rejectedErrors ?? []
    const lines = [sent.response, ...refused.map(({ recipient, response }) => `${recipient}: ${response}`)]
    const answer = sanitizeResponse(lines.join('\n'), secrets)
    return toResult('delivered', answer, { request })
  } catch (error) {
    const failed = toFailedResult(error as SmtpError, secrets)
    // A fault of the operator ends the connection before the mail.
    return failed.operatorFault ? failed : { ...failed, request }
  }
}

const takeMails = async (
  { mailBudget, workspaceId }: SendNeeds,
  recipients: number,
  purpose: MailPurpose,
): Promise<boolean> => !mailBudget || mailBudget.take(recipients, { purpose, workspaceId })

/**
 * A link that stops mails, or confirms a submission, is the recipient's: everybody who sees it can use it. Passwords of
 * the mail server are not in a mail.
 */
function describeMail(mail: OutgoingMail, hiddenUrls: MailAttempt['hiddenUrls']) {
  const hideLinks = (text: string) =>
    hiddenUrls.reduce((rest: string, url) => (url ? rest.replaceAll(url, '(hidden)') : rest), text)
  const headers = {
    From: `${mail.from.name} <${mail.from.address}>`,
    To: mail.to.map(({ address }) => address).join(', '),
    ...(mail.replyTo && { 'Reply-To': mail.replyTo.address }),
    Subject: mail.subject,
    'Message-ID': mail.messageId,
    ...mail.headers,
  }
  const shown = Object.entries(headers).map(([name, value]): [string, string] => [name, hideLinks(value)])
  const request = { method: 'SMTP', url: null, headers: shown, body: hideLinks(mail.text) }
  return { ...toSentRequest(request, []), bodyBytes: Buffer.byteLength(mail.text) }
}

/** Looks again before the day is over: the operator may have raised the limit, or less may be kept for others. */
const LOOK_AGAIN_MS = 15 * 60_000

const postpone = (msUntilReset: number) =>
  toResult(
    'refused',
    'The daily limit of emails is reached, or this workspace has used its share (MAIL_PER_DAY)',
    {
      operatorFault: true,
      postponed: { ms: Math.min(msUntilReset, LOOK_AGAIN_MS) },
    },
  )

export interface Mailbox {
  name: string
  address: string
}

function toMail(needs: SendNeeds, to: ChannelDestination, notice: Notice, from: Mailbox) {
  return {
    from: { name: from.name || 'Towpath', address: from.address },
    to: to.recipients.map((address) => ({ name: '', address })),
    ...(notice.email !== null && { replyTo: { name: '', address: notice.email } }),
    subject: toSubject(notice),
    messageId: `<${notice.messageId}@${new URL(needs.origin).hostname}>`,
    date: new Date(notice.at),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'X-Entity-Ref-ID': notice.messageId,
      // RFC 2919. Without it, spam filters take List-Unsubscribe, and a reply to somebody else, for signs of spam.
      'List-Id': `<notifications.${new URL(needs.origin).hostname}>`,
      ...toUnsubscribeHeaders(to.stop),
    },
    text: mailText(notice, to.stop?.url),
    html: mailHtml(notice, to.stop?.url),
  } satisfies OutgoingMail
}

/**
 * Form and sender, such as `Contact: Ada Lovelace`. The sender's name is short and on one line: strangers decide no more
 * of what stands in an inbox.
 */
export function toSubject(notice: Notice): string {
  const { event, form, layout, total, fields, email, number } = notice
  if (layout?.subject) return layout.subject
  const formName = truncateText(toOneLine(form.name), FORM_NAME_MAX)
  if (event === 'submission.digest')
    return form.formKey === ''
      ? `${total} new submissions to ${formName}`
      : `${formName}: ${total} new submissions`
  if (event === 'test') return 'Test notification'
  if (event === 'channel.disabled') return 'A notification channel was turned off'
  if (event === 'channel.behind') return 'A notification channel falls behind'
  if (notice.report) return truncateText(toOneLine(toReportSubject(notice.report)), SUBJECT_MAX)
  if (event === 'view.alert') return truncateText(`${formName}: ${fields.get('Reason')}`, SUBJECT_MAX)
  // X-Entity-Ref-ID keeps mail programs from grouping several leads into one conversation.
  const sender = toSenderName(fields, email) ?? `submission${number === null ? '' : ` #${number}`}`
  return `${formName}: ${sender}`
}

const FORM_NAME_MAX = 80
const SUBJECT_MAX = 150

/** RFC 2369 §3.2, and RFC 8058 for one click. */
function toUnsubscribeHeaders(stop: StopLink | undefined): Record<string, string> {
  if (!stop) return {}
  if (stop.oneClickUrl === null) return { 'List-Unsubscribe': `<${stop.url}>` }
  return {
    'List-Unsubscribe': `<${stop.oneClickUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
}

interface SmtpError extends Error {
  code?: string
  originalCode?: string
  responseCode?: number
  /** The command that the server answered. */
  command?: string
  response?: string
}

// The server requires a user name, or refuses the one it got (RFC 4954 §6).
const AUTH = [530, 534, 535, 538]

/**
 * In answers to a mail, 4xx is temporary and 5xx permanent (RFC 5321 §4.2.1). All other failures are the operator's: a
 * mail server that is away, or accepts nothing from us, says nothing about the channel.
 */
function toFailedResult(error: SmtpError, secrets: string[]): DeliveryResult {
  const { code = '', originalCode, responseCode } = error
  const response = error.response ? sanitizeResponse(error.response, secrets) : null
  if (/^E(NO)?AUTH/.test(code) || AUTH.includes(responseCode ?? 0)) {
    return toOperatorFault(toErrorText(/^E(NO)?AUTH/.test(code) ? code : 'EAUTH'), response)
  }
  // The sender is the operator's setting. Only 552 is about the mail: it is too large.
  if (error.command === 'MAIL FROM' && responseCode !== 552) return toOperatorFault(SENDER_REFUSED, response)
  const answer = response ?? toErrorText(originalCode ?? code)
  if (code === 'EENVELOPE' || code === 'EMESSAGE') {
    const temporary = responseCode !== undefined && responseCode < 500
    return toResult('refused', answer, temporary ? {} : { permanent: { what: 'message', reason: answer } })
  }
  const timedOut = code === 'EABORT' || code === 'ETIMEDOUT'
  return toResult(timedOut ? 'timeout' : 'unreachable', answer, { operatorFault: true })
}

function toOperatorFault(fault: string, response: string | null): DeliveryResult {
  const answer = `${fault}, which its operator has to mend${response === null ? '' : `: ${response}`}`
  return toResult('refused', answer, { operatorFault: true })
}

const SENDER_REFUSED = 'The mail server refuses email from the address of this server'

// The error's own message is not used, because it names addresses of the operator's network.
const ERROR_TEXTS: Record<string, string> = {
  EABORT: 'The mail server took too long',
  ETIMEDOUT: 'The mail server took too long',
  EAUTH: 'The mail server did not accept the user name and password of this server',
  ENOAUTH: 'The mail server requires a user name and password from this server',
  EENVELOPE: 'The mail server cannot send to these addresses',
  EMESSAGE: 'The email is larger than the mail server accepts',
}
const toErrorText = (code: string) => ERROR_TEXTS[code] ?? `The mail server could not be reached (${code})`
