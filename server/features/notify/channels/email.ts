// Sends e-mail through the operator's SMTP server. A submission never decides the sender or the recipients of a mail.

import addressparser from 'nodemailer/lib/addressparser'
import { listSmtpSecrets, type Mailer, openMailer } from '../../../http/smtp.ts'
import type { ChannelDestination, ChannelSender, DeliveryResult, Notice, SendNeeds } from './contract.ts'
import { mailHtml, mailText } from './mail-body.ts'
import { formatHeadline, toOneLine, truncateText } from './safe-text.ts'
import { sanitizeResponse } from './service-response.ts'

/** Longer than the limit of an HTTP request: some mail servers greet slowly on purpose, against spam. */
const TIMEOUT_MS = 30_000
/** More than mail programs show in lists. A header line may have 998 bytes (RFC 5322 §2.1.1). */
const SUBJECT_MAX = 150

export const sendEmail: ChannelSender = async (needs, to, notice) => {
  const { smtpUrl, mailFrom } = needs
  const from = addressparser(mailFrom ?? '', { flatten: true })[0]
  if (!smtpUrl || !from?.address) {
    const answer = 'This server cannot send e-mail: its operator has set no SMTP_URL and MAIL_FROM'
    return { outcome: 'unreachable', httpStatus: null, answer, operatorFault: true }
  }
  const secrets = listSmtpSecrets(smtpUrl)
  try {
    const signal = AbortSignal.timeout(needs.timeoutMs ?? TIMEOUT_MS)
    const sent = await openMailer(smtpUrl).sendMail({ ...toMail(needs, to, notice, from), signal })
    // A retry would send the mail again to the recipients that have it, so refused recipients are only reported.
    const refused = sent.rejectedErrors ?? []
    const lines = [sent.response, ...refused.map(({ recipient, response }) => `${recipient}: ${response}`)]
    return { outcome: 'delivered', httpStatus: null, answer: sanitizeResponse(lines.join('\n'), secrets) }
  } catch (error) {
    return toFailedResult(error as SmtpError, secrets)
  }
}

interface Mailbox {
  name: string
  address: string
}

function toMail(needs: SendNeeds, to: ChannelDestination, notice: Notice, from: Mailbox) {
  const isSubmission = notice.event === 'submission.created'
  const number = isSubmission ? ` (#${notice.submissionId})` : ''
  const sender = isSubmission ? notice.form.name : from.name || 'Towpath'
  return {
    from: { name: truncateText(toOneLine(sender), SUBJECT_MAX), address: from.address },
    to: to.recipients.map((address) => ({ name: '', address })),
    ...(notice.email !== null && { replyTo: { name: '', address: notice.email } }),
    // The number keeps mail programs from grouping several leads into one conversation.
    subject: truncateText(formatHeadline(notice), SUBJECT_MAX - number.length) + number,
    messageId: `<${notice.messageId}@${new URL(needs.origin).hostname}>`,
    date: new Date(notice.at),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'X-Entity-Ref-ID': notice.messageId,
      'List-Unsubscribe': `<mailto:${encodeURIComponent(from.address).replaceAll('%40', '@')}?subject=unsubscribe>`,
    },
    text: mailText(notice),
    html: mailHtml(notice),
  } satisfies Parameters<Mailer['sendMail']>[0]
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
    const refused = { outcome: 'refused', httpStatus: null, answer } as const
    const temporary = responseCode !== undefined && responseCode < 500
    return temporary ? refused : { ...refused, permanent: { what: 'message', reason: answer } }
  }
  const timedOut = code === 'EABORT' || code === 'ETIMEDOUT'
  return { outcome: timedOut ? 'timeout' : 'unreachable', httpStatus: null, answer, operatorFault: true }
}

const toOperatorFault = (fault: string, response: string | null): DeliveryResult => ({
  outcome: 'refused',
  httpStatus: null,
  answer: `${fault}, which its operator has to mend${response === null ? '' : `: ${response}`}`,
  operatorFault: true,
})

const SENDER_REFUSED = 'The mail server takes no mail from the address of this server'

// The error's own message is not used, because it names addresses of the operator's network.
const ERROR_TEXTS: Record<string, string> = {
  EABORT: 'The mail server took too long',
  ETIMEDOUT: 'The mail server took too long',
  EAUTH: 'The mail server did not accept the user name and password of this server',
  ENOAUTH: 'The mail server wants a user name and password from this server',
  EENVELOPE: 'The mail server cannot send to these addresses',
  EMESSAGE: 'The mail is larger than the mail server accepts',
}
const toErrorText = (code: string) => ERROR_TEXTS[code] ?? `The mail server could not be reached (${code})`
