// Settings of the mail server.

import { isLoopback } from '../lib/parse-ip.ts'
import { setParameters } from '../lib/url-query.ts'
import { parseUrl } from '../lib/web-url.ts'
import type { GetSetting, ProblemReporter } from './setting.ts'

export interface MailSettings {
  /**
   * The mail server: `smtp://user:password@host:587`, or `smtps://…`. Without it, email channels fail and say so. With
   * `requireTLS=true` in its query, nothing is sent before STARTTLS.
   */
  smtpUrl?: string
  /** A warning at the start about the connection to the mail server; absent if it is safe. */
  mailNotice?: string
  /** The sender of mails: an address, or a name and an address. */
  mailFrom?: string
  /** The most mails that this installation sends on one day (UTC). */
  mailPerDay: number
}

const MAIL_PER_DAY = 1_000
const MAIL_PER_DAY_MAX = 10_000_000

// The name is optional. The address between the brackets has a domain.
const MAIL_FROM = /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/

/** Both settings or neither: mail needs a server and a sender. */
export function readMail(get: GetSetting, wrong: ProblemReporter): MailSettings {
  const [smtpUrl, mailFrom] = [get('SMTP_URL'), get('MAIL_FROM')]
  const url = smtpUrl === undefined ? undefined : parseUrl(smtpUrl)
  if (url !== undefined && !(url && /^smtps?:$/.test(url.protocol) && url.hostname !== '')) {
    // The message does not repeat the URL, which may have a password.
    wrong(
      'SMTP_URL',
      'is not the address of a mail server',
      'Use smtp://user:password@host:587 or smtps://….',
    )
  }
  if (mailFrom !== undefined && !MAIL_FROM.test(mailFrom)) {
    wrong('MAIL_FROM', `"${mailFrom}" is not a sender`, 'Use leads@example.com or Leads <leads@example.com>.')
  }
  if (smtpUrl !== undefined && mailFrom === undefined) {
    wrong(
      'MAIL_FROM',
      'is missing, and SMTP_URL is set',
      'Name the sender of emails, such as leads@example.com.',
    )
  }
  if (smtpUrl === undefined && mailFrom !== undefined) {
    wrong('SMTP_URL', 'is missing, and MAIL_FROM is set', 'Name the mail server, or leave both out.')
  }
  const mailPerDay = readMailPerDay(get('MAIL_PER_DAY'), wrong)
  const insecure = readInsecure(get('SMTP_INSECURE'), wrong)
  return {
    ...(smtpUrl !== undefined && url && protectPassword(smtpUrl, url, insecure)),
    mailFrom,
    mailPerDay,
  }
}

function readMailPerDay(text: string | undefined, wrong: ProblemReporter): number {
  if (text === undefined) return MAIL_PER_DAY
  const mails = Number(text)
  if (/^\d+$/.test(text) && mails >= 1 && mails <= MAIL_PER_DAY_MAX) return mails
  wrong(
    'MAIL_PER_DAY',
    `"${text}" is not a number of mails`,
    `Use a whole number from 1, or leave it out for ${MAIL_PER_DAY}.`,
  )
  return MAIL_PER_DAY
}

function readInsecure(text: string | undefined, wrong: ProblemReporter): boolean {
  if (text === undefined || text === 'on' || text === 'off') return text === 'on'
  wrong(
    'SMTP_INSECURE',
    `"${text}" is neither on nor off`,
    'Leave it out, or use on to allow a password in clear text.',
  )
  return false
}

/**
 * A password is only sent encrypted. A server without STARTTLS could be an attacker in between who has removed the
 * offer (RFC 3207 §6).
 */
function protectPassword(
  smtpUrl: string,
  url: URL,
  insecure: boolean,
): Pick<MailSettings, 'smtpUrl' | 'mailNotice'> {
  const hasPassword = url.username !== '' || url.password !== ''
  if (url.protocol !== 'smtp:' || !hasPassword || isThisMachine(url.hostname)) return { smtpUrl }
  if (insecure) {
    const mailNotice = `SMTP_INSECURE=on: the password for ${url.host} may cross the network in clear text`
    return { smtpUrl, mailNotice }
  }
  const mailNotice = `SMTP_URL has a password: mail is sent only when ${url.host} offers STARTTLS (SMTP_INSECURE=on sends it without)`
  return { smtpUrl: setParameters(smtpUrl, { requireTLS: 'true' }), mailNotice }
}

const isThisMachine = (hostname: string) =>
  hostname === 'localhost' || isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'))
