// Sends mails of the server itself to one person, as plain text: invitations, and links to reset a password.

import addressparser from 'nodemailer/lib/addressparser'
import { describeError, log } from '../../lib/log.ts'
import { type Mailer, openMailer } from './smtp.ts'

const TIMEOUT_MS = 30_000

/** The kinds of mails that strangers can cause. Each has a share of the day's mails. */
export type MailPurpose = 'signUp' | 'invitation' | 'recipient' | 'notification' | 'confirmation' | 'reply'

export interface Mail {
  to: string
  purpose?: MailPurpose
  /** The workspace that the mail is sent for. */
  workspaceId?: number
  /** The sender's name, in place of that of MAIL_FROM. */
  fromName?: string
  subject: string
  text: string
}

/** @returns whether the mail server took the mail. If not, the log has the reason, without the recipient. */
export type MailSender = (mail: Mail) => Promise<boolean>

/** @returns undefined if no mail server is configured */
export function createMailSender({
  smtpUrl,
  mailFrom,
}: {
  smtpUrl?: string
  mailFrom?: string
}): MailSender | undefined {
  if (smtpUrl === undefined || mailFrom === undefined) return undefined
  return async ({ to, fromName, subject, text }) => {
    try {
      const mailer = await openMailer(smtpUrl)
      await mailer.sendMail({
        from: fromName === undefined ? mailFrom : toNamedSender(fromName, mailFrom),
        // Nodemailer does not parse an address in an object, so no text in it can add a recipient.
        to: { name: '', address: to },
        subject,
        text,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      } as Parameters<Mailer['sendMail']>[0])
      return true
    } catch (error) {
      // The error's message repeats addresses and, with some servers, credentials, so the log gets the code only.
      const { code, responseCode } = error as { code?: string; responseCode?: number }
      const failure = describeError(error)
      log.warn('mail_not_sent', { code: code ?? String(failure.error).slice(0, 80), status: responseCode })
      return false
    }
  }
}

const toNamedSender = (name: string, mailFrom: string) => ({
  name,
  address: addressparser(mailFrom, { flatten: true })[0]?.address ?? mailFrom,
})
