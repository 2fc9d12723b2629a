// Remembers in a cookie which people have signed in with this browser, so that only a new device causes a notice. The
// server stores nothing about devices. The cookie gives no access.

import { createTextSealer } from '../../../lib/crypto/sealing.ts'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { percentDecode } from '../../../lib/text.ts'
import type { AuthContext, SignInNeeds } from './auth-request.ts'
import { AUTH_PATH } from './better-auth.ts'
import { sendNotice, toNewDeviceNotice } from './notices.ts'

/** The purpose that the sealed text is bound to. */
const PURPOSE = 'towpath_device'
/** The longest age that browsers accept (RFC 6265bis section 5.5). */
const MAX_AGE_SECONDS = 400 * 24 * 60 * 60
/** The people who used this browser last. */
const PEOPLE_MAX = 10

/** The prefix `__Secure-` (RFC 6265bis §4.1.3.1): no page on plain http can set the cookie. */
const toCookieName = ({ origin }: SignInNeeds) =>
  origin.startsWith('https:') ? '__Secure-towpath_device' : 'towpath_device'

const toSealer = ({ secret }: SignInNeeds) => createTextSealer(secret, 'towpath known devices 1')

/** Marks the browser as a device of the person. @returns whether it was one already */
export function rememberDevice(needs: SignInNeeds, c: AuthContext, userId: number): boolean {
  const known = readKnownPeople(needs, c.req.header('cookie'))
  const people = [userId, ...known.filter((id) => id !== userId)].slice(0, PEOPLE_MAX)
  const value = toSealer(needs).seal(people.join(' '), PURPOSE)
  const secure = needs.origin.startsWith('https:') ? '; Secure' : ''
  c.header(
    'Set-Cookie',
    `${toCookieName(needs)}=${value}; Max-Age=${MAX_AGE_SECONDS}; Path=${AUTH_PATH}; HttpOnly; SameSite=Lax${secure}`,
    { append: true },
  )
  return known.includes(userId)
}

/** Mails a notice when the person has never signed in with this browser. */
export function noticeNewDevice(
  needs: SignInNeeds,
  c: AuthContext,
  user: { id: number; email: string },
): void {
  if (rememberDevice(needs, c, user.id)) return
  sendNotice(needs, user.email, toNewDeviceNotice(c.req.header('user-agent') ?? null))
}

/**
 * Strangers' guesses do not slow down a device that the account knows (docs/adr/0021-guessing.md).
 * @returns a key for the limits of this device; undefined for a browser that has not signed in to the account
 */
export async function findKnownDevice(
  needs: SignInNeeds,
  c: AuthContext,
  email: string,
): Promise<string | undefined> {
  const cookies = c.req.header('cookie')
  const known = readKnownPeople(needs, cookies)
  const user = await needs.db.read
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirst()
  return user && known.includes(user.id) ? sha256Hex(readCookie(needs, cookies)) : undefined
}

/** @returns no one for a cookie that is absent or was not made by this server */
function readKnownPeople(needs: SignInNeeds, cookies: string | undefined): number[] {
  const people = toSealer(needs).open(readCookie(needs, cookies), PURPOSE) ?? ''
  return people.split(' ').filter(Boolean).map(Number)
}

function readCookie(needs: SignInNeeds, cookies: string | undefined): string {
  const start = `${toCookieName(needs)}=`
  const cookie = cookies?.split(/; */).find((part) => part.startsWith(start))
  return percentDecode(cookie?.slice(start.length) ?? '')
}
