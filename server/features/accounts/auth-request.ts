// What the routes of /api/auth have in common: reading a request, and handing on what Better Auth answered.

import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import { clientAddress, limitKey } from '../../http/client-address.ts'
import type { SendMail } from '../../http/mail.ts'
import { fieldErrors } from '../../http/validation.ts'
import type { Network } from '../../lib/cidr.ts'
import { Failure, invalid } from '../../lib/failure.ts'
import { type Asked, AUTH_PATH, type AuthNeeds } from './auth.ts'
import type { RateLimiter } from './limits.ts'
import { findSession, type Session, sessionCookie, tokenIn } from './session.ts'

export interface SignInNeeds extends AuthNeeds {
  limiter: RateLimiter
  trustProxy: Network[]
  sendMail?: SendMail
}

export interface Env {
  Bindings: { peer: string }
  Variables: { requestId: string }
}
export type Ctx = Context<Env>
export type Routes = Hono<Env, Record<string, never>, typeof AUTH_PATH>

export const isFailure =
  (...codes: Failure['code'][]) =>
  (error: unknown) =>
    error instanceof Failure && codes.includes(error.code)

/** @throws Failure `signed_out` */
export async function signedIn(needs: SignInNeeds, c: Ctx): Promise<Session> {
  const session = await findSession(needs, tokenIn(c.req.header('cookie'), sessionCookie(needs.origin)) ?? '')
  if (!session) throw new Failure('signed_out', 'Sign in to continue')
  return session
}

/** @throws Failure `invalid` */
export async function bodyOf<T>(c: Ctx, schema: z.ZodType<T>): Promise<T> {
  const { data, error } = schema.safeParse(JSON.parse(await c.req.text()))
  if (error) throw invalid(fieldErrors(error.issues, 'field'))
  return data as T
}

export const from = ({ trustProxy }: SignInNeeds, c: Ctx) =>
  limitKey(clientAddress(c.env.peer, c.req.header('x-forwarded-for') ?? null, trustProxy))

export const asked = (c: Ctx): Asked => {
  const { pathname, search } = new URL(c.req.url)
  const method = c.req.method === 'POST' ? 'POST' : 'GET'
  return { method, path: pathname.slice(AUTH_PATH.length) + search, headers: c.req.raw.headers }
}

/** @throws for what Better Auth should not have said: our own rules came before it */
export function expectOk(answer: Response): Response {
  if (answer.ok) return answer
  throw new Error(`signing in was answered with ${answer.status}`)
}

/** Its cookies with our body: it would show the session's token to scripts. */
export function passOn(c: Ctx, answer: Response, body: object | null, location?: string) {
  for (const cookie of answer.headers.getSetCookie()) c.header('Set-Cookie', cookie, { append: true })
  if (location !== undefined) return c.redirect(location)
  return c.json(body)
}

export function forgetCookie(c: Ctx, origin: string) {
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  c.header('Set-Cookie', `${sessionCookie(origin)}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax${secure}`)
}
