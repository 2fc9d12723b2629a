// A new password for those who have lost theirs: a link that works once, for half an hour, and ends every session.

import type { MailSender } from '../../../http/send-mail.ts'
import { invalid } from '../../../lib/failure.ts'
import { randomToken } from '../../../lib/random.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { endSessionsIn } from '../access/session.ts'
import { hashToken } from '../workspaces/invitations.ts'
import { hashUserPassword } from './password.ts'
import { toCredentialColumns } from './sign-up.ts'

export const RESET_LINK_VALID_MS = 30 * 60 * 1000

const PURPOSE = 'reset:'

interface Needs {
  db: Database
  now: () => number
}

/** @returns what the person opens; the token in it is kept as its hash alone */
export async function createResetLink(
  { db, now, origin }: Needs & { origin: string },
  userId: number,
): Promise<string> {
  const token = randomToken(32)
  const at = now()
  await db.write((connection) =>
    connection
      .insertInto('verifications')
      .values({
        identifier: PURPOSE + hashToken(token),
        value: String(userId),
        expires_at: at + RESET_LINK_VALID_MS,
        created_at: at,
        updated_at: at,
      })
      .execute(),
  )
  return `${origin}/app/reset?token=${token}`
}

/** Sends the link to an address that has an account; for another one nothing happens, and nobody is told which. */
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

The link works once. If you did not request it, ignore this e-mail: your password stays the same.
`,
  })
}

const invalidLink = () => invalid({ token: 'is no longer valid: ask for a new link' })

/** @throws Failure `invalid` for a link that was used, is too old or never was */
export async function resetPassword({ db, now }: Needs, token: string, password: string): Promise<void> {
  const identifier = PURPOSE + hashToken(token)
  const known = await db.read
    .selectFrom('verifications')
    .select('id')
    .where('identifier', '=', identifier)
    .where('expires_at', '>', now())
    .executeTakeFirst()
  // Before the hash, which is dear.
  if (!known) throw invalidLink()
  const hash = await hashUserPassword(password)
  await db.write(async (connection) => {
    // Of two who come with the same link at the same moment one deletes it.
    const taken = await connection
      .deleteFrom('verifications')
      .where('identifier', '=', identifier)
      .where('expires_at', '>', now())
      .returning('value')
      .executeTakeFirst()
    if (!taken) throw invalidLink()
    const userId = Number(taken.value)
    await deleteOtherLinks(connection, taken.value)
    await deleteUnverifiedIdentities(connection, userId)
    await setPassword(connection, userId, hash, now())
    await endSessionsIn(connection, userId)
  })
}

const deleteOtherLinks = (connection: Connection, value: string) =>
  connection
    .deleteFrom('verifications')
    .where('identifier', 'like', `${PURPOSE}%`)
    .where('value', '=', value)
    .execute()

/** Who made an account on an address that was not theirs keeps no way into it once its owner has come. */
async function deleteUnverifiedIdentities(connection: Connection, userId: number) {
  const proven = await connection
    .updateTable('users')
    .set({ email_verified: 1 })
    .where('id', '=', userId)
    .where('email_verified', '=', 0)
    .returning('id')
    .executeTakeFirst()
  if (!proven) return
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
