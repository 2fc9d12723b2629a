// Mails the owners of a workspace, at most once a day about one thing, in all server processes together.

import type { MailSender } from '../../../http/mail/send-mail.ts'
import { describeError, log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'
import { listOwnerEmails } from './members.ts'

export interface OwnersMailNeeds {
  db: Database
  /** Absent where the operator has set up no mail server. */
  sendMail?: MailSender
  /** Only to addresses that are proven. */
  onlyVerified: boolean
}

export interface MailOwnersNeeds extends OwnersMailNeeds {
  limiter: Pick<RateLimiter, 'take'>
}

export interface OwnersMail {
  /** Names the subject of the email. */
  about: string
  subject: string
  text: string
}

/** Never throws: the log says what went wrong. */
export async function mailOwners(
  { limiter, ...needs }: MailOwnersNeeds,
  workspaceId: number,
  { about, ...mail }: OwnersMail,
): Promise<void> {
  if (!needs.sendMail) return
  try {
    if (!(await limiter.take(`owners of ${workspaceId} about ${about}`, 1, DAY_MS)).allowed) return
    await sendToOwners(needs, workspaceId, mail)
  } catch (error) {
    log.error('owners_not_mailed', { workspace: workspaceId, about, ...describeError(error) })
  }
}

/** Sends the mail however many there were before. @returns whether an owner got it */
export async function sendToOwners(
  { db, sendMail, onlyVerified }: OwnersMailNeeds,
  workspaceId: number,
  { subject, text }: Omit<OwnersMail, 'about'>,
): Promise<boolean> {
  if (!sendMail) return false
  const owners = await listOwnerEmails({ db, onlyVerified }, workspaceId)
  const mail = { purpose: 'notification', workspaceId, subject, text } as const
  const sent = await Promise.all(owners.map((to) => sendMail({ to, ...mail })))
  return sent.includes(true)
}
