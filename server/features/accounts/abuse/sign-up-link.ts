// Sign-up by email link (`SIGNUP=open`). The account is created, and its password chosen, only after the person follows
// the link. So nobody can create an account for another person's address with a password that they know.

import type { MailSender } from '../../../http/mail/send-mail.ts'
import { randomToken } from '../../../lib/crypto/random.ts'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { notFound } from '../../../lib/failure.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'

const LINK_VALID_MS = DAY_MS
const IDENTIFIER_PREFIX = 'sign-up:'

/** Daily limits per address, because anyone can trigger these mails: without an account, and with one. */
const LINKS_A_DAY = 3
const REMINDERS_A_DAY = 1

interface Needs {
  db: Database
  now: () => number
  origin: string
}

/** @returns the URL that the person opens; the database has only the hash of its token */
export async function createSignUpLink({ db, now, origin }: Needs, email: string): Promise<string> {
  const token = randomToken(32)
  const at = now()
  await db.write((connection) =>
    connection
      .insertInto('verifications')
      .values({
        identifier: IDENTIFIER_PREFIX + sha256Hex(token),
        value: email,
        expires_at: at + LINK_VALID_MS,
        created_at: at,
        updated_at: at,
      })
      .execute(),
  )
  return `${origin}/app/confirm?token=${token}`
}

/** Mails the link, or a reminder if the address has an account. The client does not learn which. */
export async function mailSignUpLink(
  needs: Needs & { limiter: RateLimiter; sendMail: MailSender },
  email: string,
): Promise<void> {
  const { db, origin, limiter, sendMail } = needs
  const user = await db.read.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()
  const max = user ? REMINDERS_A_DAY : LINKS_A_DAY
  const { allowed } = await limiter.take(`sign-up mail to ${email}`, max, DAY_MS)
  if (!allowed) return
  if (user) await sendMail(toReminder(email, origin))
  else await sendMail(toLinkMail(email, await createSignUpLink(needs, email), origin))
}

const toLinkMail = (to: string, url: string, origin: string) => ({
  to,
  purpose: 'signUp' as const,
  subject: 'Confirm your email address',
  text: `Someone wants to create an account on ${origin} with this email address.

Create the account within 24 hours:
${url}

The link works once. If it wasn’t you, ignore this email: no account is created.
`,
})

const toReminder = (to: string, origin: string) => ({
  to,
  purpose: 'signUp' as const,
  subject: 'You have an account already',
  text: `Someone wants to create an account on ${origin} with this email address, which has an account already.

Sign in:
${origin}/app/sign-in

If you have lost your password, reset it there. If it wasn’t you, ignore this email.
`,
})

/** @throws Failure `not_found`, for a link that is unknown, used or expired */
export async function getSignUpEmail(connection: Connection, token: string, now: number): Promise<string> {
  const row = await connection
    .selectFrom('verifications')
    .select('value')
    .where('identifier', '=', IDENTIFIER_PREFIX + sha256Hex(token))
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!row) throw notFound('Confirmation')
  return row.value
}

/** Only one of two requests with the same link deletes the row. @throws Failure `not_found` */
export async function useSignUpLinkIn(
  connection: Connection,
  { token, email, now }: { token: string; email: string; now: number },
): Promise<void> {
  const used = await connection
    .deleteFrom('verifications')
    .where('identifier', '=', IDENTIFIER_PREFIX + sha256Hex(token))
    .where('value', '=', email)
    .where('expires_at', '>', now)
    .returning('id')
    .executeTakeFirst()
  if (!used) throw notFound('Confirmation')
  await connection
    .deleteFrom('verifications')
    .where('identifier', 'like', `${IDENTIFIER_PREFIX}%`)
    .where('value', '=', email)
    .execute()
}
