// Changes the address of a person. A link to the new address proves that the person owns it. For seven days, a link
// to the old address can stop or undo the change, and with it later changes by a thief.

import type { MailSender } from '../../../http/mail/send-mail.ts'
import { Failure, invalid } from '../../../lib/failure.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { recordAccountAudit } from '../audit/record-audit.ts'
import { addMailedLink, deleteMailedLinks, takeMailedLink } from '../auth/mailed-links.ts'
import { type NoticeNeeds, sendNotice } from '../auth/notices.ts'
import { endSessionsIn } from '../auth/sessions.ts'

const CONFIRM_VALID_MS = 60 * 60 * 1000
const UNDO_VALID_MS = 7 * DAY_MS

export interface EmailChangeNeeds extends NoticeNeeds {
  db: Database
  sendMail: MailSender
}

interface Owner {
  userId: number
  email: string
}

/**
 * Mails a link to each address. An address that has an account already gets no link: the answer does not tell.
 * @throws Failure `invalid`
 */
export async function requestEmailChange(
  needs: EmailChangeNeeds,
  { userId, email }: Owner,
  newEmail: string,
): Promise<void> {
  if (newEmail === email) throw invalid({ newEmail: 'is your address already' })
  const isTaken = await hasAccount(needs.db.read, newEmail)
  const at = needs.now()
  const { undoToken, token } = await needs.db.write(async (connection) => {
    await deleteMailedLinks(connection, ['email'], String(userId))
    const confirmation = { value: `${userId} ${newEmail}`, at, validMs: CONFIRM_VALID_MS }
    return {
      undoToken: await addUndoLink(connection, { userId, email }, at),
      token: isTaken ? undefined : await addMailedLink(connection, 'email', confirmation),
    }
  })
  sendNotice(needs, email, {
    kind: 'addressChangeRequested',
    text: 'Someone who is signed in to your account asked to change its email address.',
    remedy: toUndoRemedy(needs, undoToken),
  })
  if (!token) return
  void needs.sendMail({
    to: newEmail,
    subject: 'Confirm your new email address',
    text: `Confirm this address for an account on ${needs.origin} within an hour:
${needs.origin}/app/confirm-email?token=${token}

The link works once. If you didn’t ask for it, ignore this email: nothing changes.
`,
  })
}

/** @throws Failure `invalid` for a link that is used, expired or unknown, `conflict` when the address is taken */
export async function confirmEmailChange(
  needs: NoticeNeeds & { db: Database },
  token: string,
): Promise<void> {
  const { old, undoToken } = await needs.db.write(async (connection) => {
    const { userId, email } = await takeLink(connection, 'email', { token, now: needs.now() })
    const user = await getOwner(connection, userId)
    await setEmail(connection, userId, email, needs.now())
    const detail = { from: user.email, to: email }
    await recordAccountAudit(connection, userId, { action: 'email_changed', detail }, needs.now())
    await deleteMailedLinks(connection, ['reset'], String(userId))
    return { old: user.email, undoToken: await addUndoLink(connection, user, needs.now()) }
  })
  sendNotice(needs, old, {
    kind: 'addressChanged',
    text: 'The email address of your account was changed. Emails about your account no longer go to this address.',
    remedy: toUndoRemedy(needs, undoToken),
  })
}

const toUndoRemedy = ({ origin }: NoticeNeeds, token: string) =>
  `take it back within seven days. It ends all sessions and lets you set a new password:\n${origin}/app/undo-email?token=${token}`

/**
 * Gives the account back to its old address: stops a change that is not confirmed, or undoes one that is. Ends all
 * sessions, and removes second factors that were added since. @returns the person, who needs a new password now
 * @throws Failure `invalid` for a link that is used, expired or unknown, `conflict` when the address is taken since
 */
export function undoEmailChange(
  { db, now }: { db: Database; now: () => number },
  token: string,
): Promise<{ userId: number }> {
  return db.write(async (connection) => {
    const { userId, email, createdAt } = await takeLink(connection, 'email-undo', { token, now: now() })
    const user = await getOwner(connection, userId)
    if (user.email !== email) {
      await setEmail(connection, userId, email, now())
      const detail = { from: user.email, to: email }
      await recordAccountAudit(connection, userId, { action: 'email_changed', detail }, now())
    }
    // Later links went to addresses of the thief, and later factors are the thief's.
    await deleteMailedLinks(connection, ['email', 'email-undo', 'reset'], String(userId))
    for (const table of ['totp_secrets', 'passkeys', 'recovery_codes'] as const) {
      await connection
        .deleteFrom(table)
        .where('user_id', '=', userId)
        .where('created_at', '>=', createdAt)
        .execute()
    }
    await endSessionsIn(connection, userId)
    return { userId }
  })
}

const addUndoLink = (connection: Connection, { userId, email }: Owner, at: number) =>
  addMailedLink(connection, 'email-undo', { value: `${userId} ${email}`, at, validMs: UNDO_VALID_MS })

/** @throws Failure `invalid` */
async function takeLink(
  connection: Connection,
  kind: 'email' | 'email-undo',
  link: { token: string; now: number },
) {
  const taken = await takeMailedLink(connection, kind, link)
  if (!taken) throw invalid({ token: 'is no longer valid: it was used, or is too old' })
  const space = taken.value.indexOf(' ')
  return {
    userId: Number(taken.value.slice(0, space)),
    email: taken.value.slice(space + 1),
    createdAt: taken.created_at,
  }
}

async function getOwner(connection: Connection, userId: number): Promise<Owner> {
  const user = await connection
    .selectFrom('users')
    .select(['id as userId', 'email'])
    .where('id', '=', userId)
    .executeTakeFirst()
  if (!user) throw invalid({ token: 'is no longer valid: the account was deleted' })
  return user
}

async function hasAccount(connection: Connection, email: string): Promise<boolean> {
  return (
    (await connection.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()) !==
    undefined
  )
}

/** The person has opened a link that went to this address, so it is proven. @throws Failure `conflict` */
async function setEmail(connection: Connection, userId: number, email: string, now: number) {
  if (await hasAccount(connection, email)) throw new Failure('conflict', 'This email address has an account')
  try {
    await connection
      .updateTable('users')
      .set({ email, email_verified: 1, updated_at: now })
      .where('id', '=', userId)
      .execute()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Failure('conflict', 'This email address has an account', { cause: error })
  }
}
