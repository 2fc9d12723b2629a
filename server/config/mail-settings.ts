// Settings of the mail server.

import type { GetSetting, ProblemReporter } from './setting.ts'

export interface MailSettings {
  /** The mail server: `smtp://user:password@host:587`, or `smtps://…`. Without it, e-mail channels fail and say so. */
  smtpUrl?: string
  /** The sender of mails: an address, or a name and an address. */
  mailFrom?: string
}

// The name is optional. The address between the brackets has a domain.
const MAIL_FROM = /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/

/** Both settings or neither: mail needs a server and a sender. */
export function readMail(get: GetSetting, wrong: ProblemReporter): MailSettings {
  const [smtpUrl, mailFrom] = [get('SMTP_URL'), get('MAIL_FROM')]
  const url = smtpUrl === undefined ? undefined : URL.parse(smtpUrl)
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
      'Name whom mail is from, such as leads@example.com.',
    )
  }
  if (smtpUrl === undefined && mailFrom !== undefined) {
    wrong('SMTP_URL', 'is missing, and MAIL_FROM is set', 'Name the mail server, or leave both out.')
  }
  return { smtpUrl, mailFrom }
}
