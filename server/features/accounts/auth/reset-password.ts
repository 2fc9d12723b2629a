// Resets a lost password by a link. The link works once, for 30 minutes, and its use ends all sessions of the person.

import type { MailSender } from '../../../http/mail/send-mail.ts'
import { invalid } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { hasSecondFactor } from '../access/second-factors.ts'
import { recordAccountAudit } from '../audit/record-audit.ts'
import { addMailedLink, deleteMailedLinks, readMailedLink, takeMailedLink } from './mailed-links.ts'
import { hashUserPassword, requireGoodPassword } from './password.ts'
import { endSessionsIn } from './sessions.ts'
import { toCredentialColumns } from './sign-up.ts'

export const RESET_LINK_VALID_MS = 30 * 60 * 1000

interface Needs {
  db: Database
  now: () => number
}

/** @returns the URL that the person opens */
export async function createResetLink(
  { db, now, origin }: Needs & { origin: string },
  userId: number,
): Promise<string> {
  const link = { value: String(userId), at: now(), validMs: RESET_LINK_VALID_MS }
  const token = await db.write((connection) => addMailedLink(connection, 'reset', link))
  return `${origin}/app/reset?token=${token}`
}

/** Mails the link when the address has an account, and else does nothing. The caller does not learn which. */
export async function mailResetLink(
  needs: Needs & { origin: string; sendMail: MailSender },
  email: string,
): Promise<void> {
  const user = await needs.db.read
    .selectFrom('users')
    .select(['id', 'email'])
    .where('email', '=', email)
    .executeTakeFirst()
  if (!user) return
  const url = await createResetLink(needs, user.id)
  await needs.sendMail({
    to: user.email,
    subject: 'Reset your password',
    text: `Someone requested a new password for your account on ${needs.origin}.

Set a new password within 30 minutes:
${url}

The link works once. If you didn’t request it, ignore this email. Your password stays the same.
`,
  })
}

const invalidLink = () => invalid({ token: 'is no longer valid: ask for a new link' })

/** @returns the person. @throws Failure `invalid` for a link that is used, expired or unknown, and for a password against the rules */
export async function resetPassword(
  { db, now, origin }: Needs & { origin: string },
  token: string,
  password: string,
): Promise<{ id: number; email: string }> {
  const link = await readMailedLink(db.read, 'reset', { token, now: now() })
  // Check before the hash: a hash takes much CPU time.
  const user = link && (await findUser(db.read, Number(link)))
  if (!user) throw invalidLink()
  const owner = { ...user, origin, hasSecondFactor: await hasSecondFactor(db.read, user.id) }
  await requireGoodPassword(password, owner, 'newPassword')
  const hash = await hashUserPassword(password)
  return db.write(async (connection) => {
    const taken = await takeMailedLink(connection, 'reset', { token, now: now() })
    if (!taken) throw invalidLink()
    const userId = Number(taken.value)
    await deleteMailedLinks(connection, ['reset'], taken.value)
    await deleteUnverifiedIdentities(connection, userId)
    await setPassword(connection, userId, hash, now())
    await endSessionsIn(connection, userId)
    const detail = { by: 'link' }
    await recordAccountAudit(connection, userId, { action: 'password_changed', detail }, now())
    return connection
      .selectFrom('users')
      .select(['id', 'email'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
  })
}

const findUser = (connection: Connection, id: number) =>
  connection.selectFrom('users').select(['id', 'email', 'name']).where('id', '=', id).executeTakeFirst()

/**
 * Deletes sign-ins at identity providers that were added before the address was verified. Another person may have
 * created the account with this address, and must not keep access.
 */
async function deleteUnverifiedIdentities(connection: Connection, userId: number) {
  const firstProof = await connection
    .updateTable('users')
    .set({ email_verified: 1 })
    .where('id', '=', userId)
    .where('email_verified', '=', 0)
    .returning('id')
    .executeTakeFirst()
  if (!firstProof) return
  await connection
    .deleteFrom('identities')
    .where('user_id', '=', userId)
    .where('provider_id', '!=', 'credential')
    .execute()
}

async function setPassword(connection: Connection, userId: number, password: string, at: number) {
  await connection
    .insertInto('identities')
    .values({ ...toCredentialColumns(userId), password, created_at: at, updated_at: at })
    .onConflict((conflict) =>
      conflict.columns(['provider_id', 'account_id']).doUpdateSet({ password, updated_at: at }),
    )
    .execute()
}
