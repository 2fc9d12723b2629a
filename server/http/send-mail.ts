// Mail from the server itself: invitations, links to reset a password. Plain text, to one person.

import { describeError, log } from '../lib/log.ts'
import { openMailer } from './smtp.ts'

const TIMEOUT_MS = 30_000

export interface Mail {
  to: string
  subject: string
  text: string
}

/** @returns whether the mail server took it; why it did not is in the log, without whom it was for */
export type MailSender = (mail: Mail) => Promise<boolean>

/** @returns undefined where the operator has set up no mail */
export function createMailSender({
  smtpUrl,
  mailFrom,
}: {
  smtpUrl?: string
  mailFrom?: string
}): MailSender | undefined {
  if (smtpUrl === undefined || mailFrom === undefined) return undefined
  return async ({ to, subject, text }) => {
    try {
      await openMailer(smtpUrl).sendMail({
        from: mailFrom,
        // As an object, the address is taken as it is: nothing in it makes another recipient.
        to: { name: '', address: to },
        subject,
        text,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      } as Parameters<ReturnType<typeof openMailer>['sendMail']>[0])
      return true
    } catch (error) {
      // Its words repeat addresses and, of some servers, credentials: the code says enough.
      const { code, responseCode } = error as { code?: string; responseCode?: number }
      const failure = describeError(error)
      log.warn('mail_not_sent', { code: code ?? String(failure.error).slice(0, 80), status: responseCode })
      return false
    }
  }
}
