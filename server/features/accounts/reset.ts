// A new password for those who have lost theirs: a link that works once, for half an hour, and ends every session.

import type { SendMail } from '../../http/mail.ts'
import { invalid } from '../../lib/failure.ts'
import { randomToken } from '../../lib/random.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import { hashToken } from './invitations.ts'
import { hashOf } from './password.ts'
import { endSessionsIn } from './session.ts'
import { credential } from './sign-up.ts'

export const RESET_LASTS_MS = 30 * 60 * 1000

const PURPOSE = 'reset:'

interface Needs {
  rows: Rows
  now: () => number
}

/** @returns what the person opens; the token in it is kept as its hash alone */
export async function makeResetLink(
  { rows, now, origin }: Needs & { origin: string },
  userId: number,
): Promise<string> {
  const token = randomToken(32)
  const at = now()
  await rows.write((db) =>
    db
      .insertInto('verifications')
      .values({
        identifier: PURPOSE + hashToken(token),
        value: String(userId),
        expires_at: at + RESET_LASTS_MS,
        created_at: at,
        updated_at: at,
      })
      .execute(),
  )
  return `${origin}/app/reset?token=${token}`
}

/** Sends the link to an address that has an account; for another one nothing happens, and nobody is told which. */
export async function mailResetLink(
  needs: Needs & { origin: string; sendMail: SendMail },
  email: string,
): Promise<void> {
  const user = await needs.rows.read
    .selectFrom('users')
    .select(['id', 'email'])
    .where('email', '=', email)
    .executeTakeFirst()
  if (!user) return
  const url = await makeResetLink(needs, user.id)
  await needs.sendMail({
    to: user.email,
    subject: 'Set a new password',
    text: `Somebody asked for a new password for your account on ${needs.origin}.

Set it here, within 30 minutes:
${url}

The link works once. If it was not you, ignore this: nothing has changed.
`,
  })
}

const spent = () => invalid({ token: 'is no longer valid: ask for a new link' })

/** @throws Failure `invalid` for a link that was used, is too old or never was */
export async function resetPassword({ rows, now }: Needs, token: string, password: string): Promise<void> {
  const identifier = PURPOSE + hashToken(token)
  const known = await rows.read
    .selectFrom('verifications')
    .select('id')
    .where('identifier', '=', identifier)
    .where('expires_at', '>', now())
    .executeTakeFirst()
  // Before the hash, which is dear.
  if (!known) throw spent()
  const hash = await hashOf(password)
  await rows.write(async (db) => {
    // Of two who come with the same link at the same moment one deletes it.
    const taken = await db
      .deleteFrom('verifications')
      .where('identifier', '=', identifier)
      .where('expires_at', '>', now())
      .returning('value')
      .executeTakeFirst()
    if (!taken) throw spent()
    const userId = Number(taken.value)
    await forgetOtherLinks(db, taken.value)
    await forgetUnproven(db, userId)
    await setPassword(db, userId, hash, now())
    await endSessionsIn(db, userId)
  })
}

const forgetOtherLinks = (db: Db, value: string) =>
  db
    .deleteFrom('verifications')
    .where('identifier', 'like', `${PURPOSE}%`)
    .where('value', '=', value)
    .execute()

/** Who made an account on an address that was not theirs keeps no way into it once its owner has come. */
async function forgetUnproven(db: Db, userId: number) {
  const proven = await db
    .updateTable('users')
    .set({ email_verified: 1 })
    .where('id', '=', userId)
    .where('email_verified', '=', 0)
    .returning('id')
    .executeTakeFirst()
  if (!proven) return
  await db
    .deleteFrom('identities')
    .where('user_id', '=', userId)
    .where('provider_id', '!=', 'credential')
    .execute()
}

async function setPassword(db: Db, userId: number, password: string, at: number) {
  await db
    .insertInto('identities')
    .values({ ...credential(userId), password, created_at: at, updated_at: at })
    .onConflict((conflict) =>
      conflict.columns(['provider_id', 'account_id']).doUpdateSet({ password, updated_at: at }),
    )
    .execute()
}
