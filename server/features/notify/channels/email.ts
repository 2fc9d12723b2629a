// E-mail over the operator's SMTP server. Who a mail is from and to is never said by what was submitted.

import addressparser from 'nodemailer/lib/addressparser'
import type { Destination, Notice, Result, Send, SendNeeds } from '../notice.ts'
import { keptAnswer } from './answer.ts'
import { cutText, headline, oneLine } from './cut.ts'
import { mailHtml, mailText } from './mail-body.ts'
import { type Mailer, mailerFor, secretsOfSmtp } from './smtp.ts'

// Longer than a request's: mail servers greet slowly on purpose.
const TIMEOUT_MS = 30_000
// What mail programs show in lists is far less; a header line may have 998 bytes (RFC 5322 §2.1.1).
const SUBJECT_MAX = 150

export const sendEmail: Send = async (needs, to, notice) => {
  const { smtpUrl, mailFrom } = needs
  const from = addressOf(mailFrom ?? '')
  if (!smtpUrl || !from) {
    const answer = 'This server cannot send e-mail: its operator has set no SMTP_URL and MAIL_FROM'
    return { outcome: 'unreachable', httpStatus: null, answer }
  }
  const secrets = secretsOfSmtp(smtpUrl)
  try {
    const signal = AbortSignal.timeout(needs.timeoutMs ?? TIMEOUT_MS)
    const sent = await mailerFor(smtpUrl).sendMail({ ...mailOf(needs, to, notice, from), signal })
    // Those who have it would get it again: who was refused is only told.
    const refused = sent.rejectedErrors ?? []
    const said = [sent.response, ...refused.map(({ recipient, response }) => `${recipient}: ${response}`)]
    return { outcome: 'delivered', httpStatus: null, answer: keptAnswer(said.join('\n'), secrets) }
  } catch (error) {
    return failed(error as SmtpError, secrets)
  }
}

const addressOf = (mailFrom: string) => addressparser(mailFrom, { flatten: true })[0]?.address || undefined

function mailOf(needs: SendNeeds, to: Destination, notice: Notice, from: string) {
  const number = notice.event === 'test' ? '' : ` (#${notice.submissionId})`
  return {
    from: { name: cutText(oneLine(notice.form.name), SUBJECT_MAX), address: from },
    to: to.recipients.map((address) => ({ name: '', address })),
    ...(notice.email !== null && { replyTo: { name: '', address: notice.email } }),
    // The number keeps mail programs from folding several leads into one conversation.
    subject: cutText(headline(notice), SUBJECT_MAX - number.length) + number,
    messageId: `<${notice.messageId}@${new URL(needs.origin).hostname}>`,
    date: new Date(notice.at),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'X-Entity-Ref-ID': notice.messageId,
      'List-Unsubscribe': `<mailto:${encodeURIComponent(from).replaceAll('%40', '@')}?subject=unsubscribe>`,
    },
    text: mailText(notice),
    html: mailHtml(notice),
  } satisfies Parameters<Mailer['sendMail']>[0]
}

interface SmtpError extends Error {
  code?: string
  originalCode?: string
  responseCode?: number
  response?: string
}

// The server wants a user name, or another one (RFC 4954 §6).
const AUTH = [530, 534, 535, 538]

/** 4xx is for now, 5xx for ever (RFC 5321 §4.2.1), where it is an answer to the mail and not to the connection. */
function failed(error: SmtpError, secrets: string[]): Result {
  const { code = '', originalCode, responseCode } = error
  const answer = error.response ? keptAnswer(error.response, secrets) : unanswered(originalCode ?? code)
  const refused = { outcome: 'refused', httpStatus: null, answer } as const
  const reason = answer ?? 'The mail server refused the message'
  const forNow = responseCode !== undefined && responseCode < 500
  if (/^E(NO)?AUTH/.test(code) || AUTH.includes(responseCode ?? 0)) {
    return forNow ? refused : { ...refused, permanent: { what: 'channel', reason } }
  }
  if (code === 'EENVELOPE' || code === 'EMESSAGE') {
    return forNow ? refused : { ...refused, permanent: { what: 'message', reason } }
  }
  const late = code === 'EABORT' || code === 'ETIMEDOUT'
  return { outcome: late ? 'timeout' : 'unreachable', httpStatus: null, answer }
}

// Not the error's own words: they name addresses of the operator's network.
const UNANSWERED: Record<string, string> = {
  EABORT: 'The mail server took too long',
  ETIMEDOUT: 'The mail server took too long',
  EAUTH: 'The mail server did not accept the user name and password',
  ENOAUTH: 'The mail server wants a user name and password',
  EENVELOPE: 'The mail server cannot send to these addresses',
  EMESSAGE: 'The mail is larger than the mail server accepts',
}
const unanswered = (code: string) => UNANSWERED[code] ?? `The mail server could not be reached (${code})`
