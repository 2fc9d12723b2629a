// Limits the emails of an installation to `MAIL_PER_DAY`, because strangers cause nearly all of them. A day is a UTC
// day. The count is in the database, so it is exact across processes and survives a restart.

import { type Selectable, sql } from 'kysely'
import type { Metric } from '../../../http/health-and-metrics.ts'
import type { MailPurpose, MailSender } from '../../../http/mail/send-mail.ts'
import { log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'
import type { MailCounts } from '../../../storage/database/tables/operation-tables.ts'
import { type MailKind, type MailShare, mayTakeMails } from './mail-share.ts'

const DAYS_KEPT = 30

/** The purpose of a mail, and the workspace that it is sent for. */
export interface MailSource {
  /** Absent: a mail that people need to reach their account. */
  purpose?: MailPurpose
  /** Absent where the server itself sends. */
  workspaceId?: number
}

export interface MailBudget {
  /** Counts emails before they are sent. @returns false, and counts nothing, when they do not all fit */
  take(mails: number, source?: MailSource): Promise<boolean>
  /** Whether one more mail fits. */
  hasRoom(source?: MailSource): Promise<boolean>
  /** Milliseconds until the next day starts. */
  msUntilReset(): number
  metrics(): Metric[]
}

const KINDS: Record<MailPurpose, MailKind> = {
  signUp: 'signUps',
  invitation: 'notifications',
  recipient: 'notifications',
  notification: 'notifications',
  confirmation: 'confirmations',
  reply: 'replies',
}
const toKind = ({ purpose }: MailSource): MailKind => (purpose ? KINDS[purpose] : 'accounts')

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
  let last = { day: 0, sent: 0 }
  let refused = 0
  let loggedDay = 0

  function noteRefusal(day: number, { workspaceId }: MailSource) {
    refused++
    // The first one of the day. `workspace` may be one that has sent its share, while others still may send.
    if (loggedDay !== day) log.warn('mail_used_up', { mailPerDay, workspace: workspaceId })
    loggedDay = day
  }

  return {
    async take(mails, source = {}) {
      const [day, kind] = [today(), toKind(source)]
      const sent = await db.write((connection) =>
        takeMails(connection, { day, perDay: mailPerDay, kind, mails, workspaceId: source.workspaceId }),
      )
      if (sent === undefined) noteRefusal(day, source)
      else last = { day, sent }
      return sent !== undefined
    },
    async hasRoom(source = {}) {
      const [day, kind] = [today(), toKind(source)]
      const row = await db.read
        .selectFrom('mail_counts')
        .selectAll()
        .where('day', '=', day)
        .executeTakeFirst()
      const sent = toSent(row)
      const share = await readShare(db.read, { day, kind, sent, workspaceId: source.workspaceId })
      const fits = mayTakeMails({ perDay: mailPerDay, sent }, { kind, mails: 1 }, share)
      if (!fits) noteRefusal(day, source)
      return fits
    },
    msUntilReset: () => (today() + 1) * DAY_MS - now(),
    metrics: () => [
      {
        name: 'towpath_mails_sent_today',
        kind: 'gauge',
        help: 'Emails that count towards MAIL_PER_DAY',
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
        help: 'Emails that waited or were not sent because MAIL_PER_DAY, or a share of it, was used up',
        value: refused,
      },
    ],
  }
}

type MailCountsRow = Selectable<MailCounts>

function toSent(row: MailCountsRow | undefined): Record<MailKind, number> {
  const { sent = 0, sign_ups: signUps = 0, notifications = 0, confirmations = 0, replies = 0 } = row ?? {}
  const accounts = sent - signUps - notifications - confirmations - replies
  return { accounts, signUps, notifications, confirmations, replies }
}

interface Taking {
  day: number
  perDay: number
  kind: MailKind
  mails: number
  workspaceId: number | undefined
}

/** @returns the new number of emails of the day; undefined, and counts nothing, when these do not fit */
async function takeMails(
  connection: Connection,
  { day, perDay, kind, mails, workspaceId }: Taking,
): Promise<number | undefined> {
  // Locks the day: processes that take at the same moment take one after the other.
  const row = await connection
    .insertInto('mail_counts')
    .values({ day, sent: 0 })
    .onConflict((conflict) =>
      conflict.column('day').doUpdateSet((e) => ({ sent: e.ref('mail_counts.sent') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  const sent = toSent(row)
  const share = await readShare(connection, { day, kind, sent, workspaceId })
  if (!mayTakeMails({ perDay, sent }, { kind, mails }, share)) return undefined
  const column = kind === 'signUps' ? 'sign_ups' : kind
  await connection
    .updateTable('mail_counts')
    .set((e) => ({
      sent: e('sent', '+', mails),
      ...(column !== 'accounts' && { [column]: e(column, '+', mails) }),
    }))
    .where('day', '=', day)
    .execute()
  if (workspaceId !== undefined && isShared(kind))
    await connection
      .insertInto('mail_shares')
      .values({ day, workspace_id: workspaceId, [kind]: mails })
      .onConflict((conflict) =>
        conflict.columns(['day', 'workspace_id']).doUpdateSet((e) => ({
          [kind]: e(`mail_shares.${kind}`, '+', mails),
        })),
      )
      .execute()
  return row.sent + mails
}

type SharedKind = Exclude<MailKind, 'accounts' | 'signUps'>
const isShared = (kind: MailKind): kind is SharedKind => kind !== 'accounts' && kind !== 'signUps'

/** All sign-ups together have one share, as a workspace has. */
async function readShare(
  connection: Connection,
  {
    day,
    kind,
    sent,
    workspaceId,
  }: { day: number; kind: MailKind; sent: Record<MailKind, number>; workspaceId: number | undefined },
): Promise<MailShare> {
  if (!isShared(kind) || workspaceId === undefined) return { own: sent[kind], isAlone: false }
  const row = await connection
    .selectFrom('mail_shares')
    .select(kind)
    .where('day', '=', day)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  const other = await connection
    .selectFrom('workspaces')
    .select('id')
    .where('id', '<>', workspaceId)
    .limit(1)
    .executeTakeFirst()
  return { own: row?.[kind] ?? 0, isAlone: other === undefined }
}

/** Sends while the day's mails last. */
export const limitMails =
  (send: MailSender, budget: MailBudget): MailSender =>
  async (mail) =>
    (await budget.take(1, mail)) && send(mail)

export async function pruneMailCounts(db: Database, now: number): Promise<void> {
  const oldest = Math.floor(now / DAY_MS) - DAYS_KEPT
  await db.write((connection) => connection.deleteFrom('mail_counts').where('day', '<', oldest).execute())
  await pruneInSlices(db, 'mail_shares', sql`day < ${oldest}`)
}
