// Mails the owners of a workspace, at most once a day about one thing, in all server processes together.

import type { MailSender } from '../../../http/mail/send-mail.ts'
import { describeError, log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'
import { listOwnerEmails } from './members.ts'

export interface MailOwnersNeeds {
  db: Database
  limiter: Pick<RateLimiter, 'take'>
  /** Absent where the operator has set up no mail server. */
  sendMail?: MailSender
  /** Only to addresses that are proven. */
  onlyVerified: boolean
}

export interface OwnersMail {
  /** Names what the mail is about. */
  about: string
  subject: string
  text: string
}

/** Never throws: the log says what went wrong. */
export async function mailOwners(
  { db, limiter, sendMail, onlyVerified }: MailOwnersNeeds,
  workspaceId: number,
  { about, subject, text }: OwnersMail,
): Promise<void> {
  if (!sendMail) return
  try {
    if (!(await limiter.take(`owners of ${workspaceId} about ${about}`, 1, DAY_MS)).allowed) return
    const owners = await listOwnerEmails({ db, onlyVerified }, workspaceId)
    await Promise.all(owners.map((to) => sendMail({ to, purpose: 'notification', subject, text })))
  } catch (error) {
    log.error('owners_not_mailed', { workspace: workspaceId, about, ...describeError(error) })
  }
}
