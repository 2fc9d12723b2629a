// Limits the mails of an installation to `MAIL_PER_DAY`, because strangers cause nearly all of them. The days are those of
// UTC. The count is in the database, so that it is exact between processes and survives a restart.

import type { Metric } from '../../../http/health-and-metrics.ts'
import type { MailPurpose, MailSender } from '../../../http/mail/send-mail.ts'
import { log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'

/** Mails that people need to reach their account keep a twentieth of the day's mails. */
const RESERVED = 1 / 20
/** Anybody causes replies to the senders of forms: the other half is for people who look after something here. */
const FOR_REPLIES = 1 / 2
const DAYS_KEPT = 30

export interface MailBudget {
  /** Counts mails that are sent next. @returns false, and counts nothing, when not all of them fit */
  take(mails: number, purpose?: MailPurpose): Promise<boolean>
  /** Whether one more mail fits. */
  hasRoom(purpose?: MailPurpose): Promise<boolean>
  /** Milliseconds until the next day starts. */
  msUntilReset(): number
  metrics(): Metric[]
}

export function createMailBudget({
  db,
  now,
  mailPerDay,
}: {
  db: Database
  now: () => number
  mailPerDay: number
}): MailBudget {
  const today = () => Math.floor(now() / DAY_MS)
  const toMax = (purpose?: MailPurpose) => {
    if (purpose === undefined) return mailPerDay
    return mailPerDay - Math.floor(mailPerDay * (purpose === 'reply' ? FOR_REPLIES : RESERVED))
  }
  let last = { day: 0, sent: 0 }
  let refused = 0
  let loggedDay = 0

  function noteRefusal(day: number) {
    refused++
    if (loggedDay !== day) log.warn('mail_used_up', { mailPerDay })
    loggedDay = day
  }

  return {
    async take(mails, purpose) {
      const [day, max] = [today(), toMax(purpose)]
      const row =
        mails > max ? undefined : await db.write((connection) => countMails(connection, { day, mails, max }))
      if (row) last = { day, sent: row.sent }
      else noteRefusal(day)
      return row !== undefined
    },
    async hasRoom(purpose) {
      const day = today()
      const row = await db.read
        .selectFrom('mail_counts')
        .select('sent')
        .where('day', '=', day)
        .executeTakeFirst()
      const room = (row?.sent ?? 0) < toMax(purpose)
      if (!room) noteRefusal(day)
      return room
    },
    msUntilReset: () => (today() + 1) * DAY_MS - now(),
    metrics: () => [
      {
        name: 'towpath_mails_sent_today',
        kind: 'gauge',
        help: 'Mails that count towards MAIL_PER_DAY',
        value: last.day === today() ? last.sent : 0,
      },
      {
        name: 'towpath_mails_per_day',
        kind: 'gauge',
        help: 'MAIL_PER_DAY',
        value: mailPerDay,
      },
      {
        name: 'towpath_mails_refused_total',
        kind: 'counter',
        help: 'Mails that waited or were not sent because MAIL_PER_DAY was used up',
        value: refused,
      },
    ],
  }
}

const countMails = (
  connection: Connection,
  { day, mails, max }: { day: number; mails: number; max: number },
) =>
  connection
    .insertInto('mail_counts')
    .values({ day, sent: mails })
    .onConflict((conflict) =>
      conflict
        .column('day')
        .doUpdateSet((e) => ({ sent: e('mail_counts.sent', '+', mails) }))
        .where('mail_counts.sent', '<=', max - mails),
    )
    .returning('sent')
    .executeTakeFirst()

/** Sends while the day's mails last. */
export const limitMails =
  (send: MailSender, budget: MailBudget): MailSender =>
  async (mail) =>
    (await budget.take(1, mail.purpose)) && send(mail)

export async function pruneMailCounts(db: Database, now: number): Promise<void> {
  const oldest = Math.floor(now / DAY_MS) - DAYS_KEPT
  await db.write((connection) => connection.deleteFrom('mail_counts').where('day', '<', oldest).execute())
}
