// Completes a sign-in that Better Auth has accepted: ends the browser's earlier session, and requires the second factor if the
// person has one (docs/adr/0013-accounts.md).

import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { readSessionToken, toSessionCookieName } from '../access/session.ts'
import { type AuthContext, forwardCookies, type SignInNeeds } from './auth-request.ts'
import type { Auth } from './better-auth.ts'
import { noticeNewDevice, rememberDevice } from './known-devices.ts'
import { recordSignIn, type SignInMethod } from './sign-in-audit.ts'

/**
 * Forwards the cookies of Better Auth's answer, and completes a sign-in. The route answers with its own body, because
 * Better Auth's body would show the session token to scripts.
 * @returns true if a second factor must follow
 */
export async function finishSignIn(
  needs: SignInNeeds,
  c: AuthContext,
  answer: Response,
  { isSignUp = false, method = 'password' }: { isSignUp?: boolean; method?: SignInMethod } = {},
): Promise<boolean> {
  forwardCookies(c, answer)
  const name = toSessionCookieName(needs.origin)
  const session = await findSignIn(needs, readSessionToken(answer.headers.getSetCookie().join('; '), name))
  if (!session) return false
  await endEarlierSession(needs, readSessionToken(c.req.header('cookie'), name), session.id)
  if (session.awaits_second_factor === 1) return true
  await recordSignIn(needs, session.user_id, method)
  if (isSignUp) rememberDevice(needs, c, session.user_id)
  else noticeNewDevice(needs, c, { id: session.user_id, email: session.email })
  return false
}

async function findSignIn({ db }: SignInNeeds, token: string | undefined) {
  if (!token) return undefined
  return db.read
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['sessions.id', 'sessions.user_id', 'sessions.awaits_second_factor', 'users.email'])
    .where('sessions.token', '=', sha256Hex(token))
    .executeTakeFirst()
}

/** The cookie of the new session replaces that of the earlier one, which is no longer valid. */
async function endEarlierSession({ db }: SignInNeeds, token: string | undefined, exceptId: number) {
  if (!token) return
  await db.write((connection) =>
    connection
      .deleteFrom('sessions')
      .where('token', '=', sha256Hex(token))
      .where('id', '!=', exceptId)
      .execute(),
  )
}

/** Begins a session for an authenticated person. @returns Better Auth's answer, with the cookie */
export const beginSession = (auth: Auth, c: AuthContext, userId: number): Promise<Response> =>
  auth.ask({ method: 'POST', path: '/begin-session', headers: c.req.raw.headers, body: { userId } })
