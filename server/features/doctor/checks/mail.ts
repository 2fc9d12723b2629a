// Check: mail can be sent. With `--mail-to`, a mail is sent.

import { checkMailServer } from '../../../http/mail/check-mail-server.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { type CheckResult, ok, problem, warning } from '../finding.ts'
import type { DoctorNeeds } from '../needs.ts'

export async function checkMail({ settings, mailTo }: DoctorNeeds): Promise<CheckResult[]> {
  const { smtpUrl, mailFrom } = settings
  if (smtpUrl === undefined || mailFrom === undefined)
    return [
      warning(
        'SMTP_URL is not set: invitations, password resets and email channels cannot send email.',
        'Set SMTP_URL and MAIL_FROM.',
      ),
    ]
  const { ok: works, text } = await checkMailServer({ smtpUrl, mailFrom }, mailTo)
  const host = parseUrl(smtpUrl)?.host ?? 'the mail server'
  if (!works)
    return [
      problem(
        `Email cannot be sent through ${host}: ${text}.`,
        'Correct SMTP_URL and MAIL_FROM, or the mail server.',
      ),
    ]
  if (mailTo !== undefined) return [ok(`${host} accepted the test email: ${text}`)]
  return [ok(`${host} accepts email (--mail-to <address> sends a test).`)]
}
