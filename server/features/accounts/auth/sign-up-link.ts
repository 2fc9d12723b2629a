// Sign-up by email link (`SIGNUP=open`). The account is created, and its password chosen, only after the person follows
// the link. So nobody can create an account for another person's address with a password that they know.

import type { MailSender } from '../../../http/mail/send-mail.ts'
import { notFound } from '../../../lib/failure.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'
import { addMailedLink, deleteMailedLinks, readMailedLink, takeMailedLink } from './mailed-links.ts'

const LINK_VALID_MS = DAY_MS

/** Daily limits per address, because anyone can trigger these mails: without an account, and with one. */
const LINKS_A_DAY = 3
const REMINDERS_A_DAY = 1

interface Needs {
  db: Database
  now: () => number
  origin: string
}

/** @returns the URL that the person opens */
export async function createSignUpLink({ db, now, origin }: Needs, email: string): Promise<string> {
  const link = { value: email, at: now(), validMs: LINK_VALID_MS }
  const token = await db.write((connection) => addMailedLink(connection, 'sign-up', link))
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
  const email = await readMailedLink(connection, 'sign-up', { token, now })
  if (email === undefined) throw notFound('Confirmation')
  return email
}

/** @throws Failure `not_found` */
export async function useSignUpLinkIn(
  connection: Connection,
  { token, email, now }: { token: string; email: string; now: number },
): Promise<void> {
  const taken = await takeMailedLink(connection, 'sign-up', { token, now })
  if (taken?.value !== email) throw notFound('Confirmation')
  await deleteMailedLinks(connection, ['sign-up'], email)
}
