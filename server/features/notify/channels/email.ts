// E-mail over the operator's SMTP server. Who a mail is from and to is never said by what was submitted.

import addressparser from 'nodemailer/lib/addressparser'
import { listSmtpSecrets, type Mailer, openMailer } from '../../../http/smtp.ts'
import type { ChannelDestination, ChannelSender, DeliveryResult, Notice, SendNeeds } from './contract.ts'
import { mailHtml, mailText } from './mail-body.ts'
import { formatHeadline, toOneLine, truncateText } from './safe-text.ts'
import { sanitizeResponse } from './service-response.ts'

// Longer than a request's: mail servers greet slowly on purpose.
const TIMEOUT_MS = 30_000
// What mail programs show in lists is far less; a header line may have 998 bytes (RFC 5322 §2.1.1).
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
    // Those who have it would get it again: who was refused is only told.
    const refused = sent.rejectedErrors ?? []
    const said = [sent.response, ...refused.map(({ recipient, response }) => `${recipient}: ${response}`)]
    return { outcome: 'delivered', httpStatus: null, answer: sanitizeResponse(said.join('\n'), secrets) }
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
    // The number keeps mail programs from folding several leads into one conversation.
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
  /** What was answered. */
  command?: string
  response?: string
}

// The server wants a user name, or another one (RFC 4954 §6).
const AUTH = [530, 534, 535, 538]

/**
 * 4xx is for now, 5xx for ever (RFC 5321 §4.2.1), where it is an answer to the mail and not to the connection. The
 * server itself is the operator's: that it is away or takes nothing from us says nothing against a channel.
 */
function toFailedResult(error: SmtpError, secrets: string[]): DeliveryResult {
  const { code = '', originalCode, responseCode } = error
  const said = error.response ? sanitizeResponse(error.response, secrets) : null
  if (/^E(NO)?AUTH/.test(code) || AUTH.includes(responseCode ?? 0)) {
    return toOperatorFault(toErrorText(/^E(NO)?AUTH/.test(code) ? code : 'EAUTH'), said)
  }
  // Who a mail is from is the operator's setting; only its size is its own (552).
  if (error.command === 'MAIL FROM' && responseCode !== 552) return toOperatorFault(SENDER_REFUSED, said)
  const answer = said ?? toErrorText(originalCode ?? code)
  if (code === 'EENVELOPE' || code === 'EMESSAGE') {
    const refused = { outcome: 'refused', httpStatus: null, answer } as const
    const forNow = responseCode !== undefined && responseCode < 500
    return forNow ? refused : { ...refused, permanent: { what: 'message', reason: answer } }
  }
  const late = code === 'EABORT' || code === 'ETIMEDOUT'
  return { outcome: late ? 'timeout' : 'unreachable', httpStatus: null, answer, operatorFault: true }
}

const toOperatorFault = (what: string, said: string | null): DeliveryResult => ({
  outcome: 'refused',
  httpStatus: null,
  answer: `${what}, which its operator has to mend${said === null ? '' : `: ${said}`}`,
  operatorFault: true,
})

const SENDER_REFUSED = 'The mail server takes no mail from the address of this server'

// Not the error's own words: they name addresses of the operator's network.
const ERROR_TEXTS: Record<string, string> = {
  EABORT: 'The mail server took too long',
  ETIMEDOUT: 'The mail server took too long',
  EAUTH: 'The mail server did not accept the user name and password of this server',
  ENOAUTH: 'The mail server wants a user name and password from this server',
  EENVELOPE: 'The mail server cannot send to these addresses',
  EMESSAGE: 'The mail is larger than the mail server accepts',
}
const toErrorText = (code: string) => ERROR_TEXTS[code] ?? `The mail server could not be reached (${code})`
