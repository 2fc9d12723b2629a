// Helpers of the routes under /api/auth: they read the request, and forward Better Auth's answer.

import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import { readClientAddress, toRateLimitKey } from '../../../http/client-address.ts'
import type { MailSender } from '../../../http/mail/send-mail.ts'
import type { Caller, RouteFacts } from '../../../http/route-facts.ts'
import { declareFacts } from '../../../http/route-table.ts'
import { fieldErrors } from '../../../http/validation.ts'
import { Failure, invalid } from '../../../lib/failure.ts'
import type { Network } from '../../../lib/ip-network.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'
import { findSession, readSessionToken, type Session, toSessionCookieName } from '../access/session.ts'
import { AUTH_PATH, type AuthNeeds, type AuthRequest } from './better-auth.ts'

export interface SignInNeeds extends AuthNeeds {
  limiter: RateLimiter
  trustProxy: Network[]
  sendMail?: MailSender
}

export interface AuthEnv {
  Bindings: { peer: string }
  Variables: { requestId: string; facts?: RouteFacts }
}
export type AuthContext = Context<AuthEnv>
export type AuthRoutes = Hono<AuthEnv, Record<string, never>, typeof AUTH_PATH>

/**
 * The facts of a route under /api/auth. No route takes an Idempotency-Key, and no answer contains the session token.
 */
export const authFacts = (
  by: Extract<Caller, 'anybody' | 'person'>,
  body: RouteFacts['body'] = 'object',
  { fresh = false, secretInAnswer = false }: Partial<Pick<RouteFacts, 'fresh' | 'secretInAnswer'>> = {},
) => declareFacts({ by, scopes: [], shows: [], body, idempotent: false, secretInAnswer, slow: false, fresh })

export const isFailureWith =
  (...codes: Failure['code'][]) =>
  (error: unknown) =>
    error instanceof Failure && codes.includes(error.code)

/** @throws Failure `signed_out` */
export async function requireSession(needs: SignInNeeds, c: AuthContext): Promise<Session> {
  const session = await findSession(
    needs,
    readSessionToken(c.req.header('cookie'), toSessionCookieName(needs.origin)) ?? '',
  )
  if (!session) throw new Failure('signed_out', 'Sign in to continue')
  return session
}

/** @throws Failure `invalid`, naming every wrong field */
export async function parseBody<T>(c: AuthContext, schema: z.ZodType<T>): Promise<T> {
  const { data, error } = schema.safeParse(JSON.parse(await c.req.text()))
  if (error) throw invalid(fieldErrors(error.issues, 'field'))
  return data as T
}

/** The limit key of the client's address; an IPv6 network counts as one client. */
export const toClientLimitKey = ({ trustProxy }: SignInNeeds, c: AuthContext) =>
  toRateLimitKey(readClientAddress(c.env.peer, c.req.header('x-forwarded-for') ?? null, trustProxy))

export const toAuthRequest = (c: AuthContext): AuthRequest => {
  const { pathname, search } = new URL(c.req.url)
  const method = c.req.method === 'POST' ? 'POST' : 'GET'
  return { method, path: pathname.slice(AUTH_PATH.length) + search, headers: c.req.raw.headers }
}

/** @throws when Better Auth refuses a request that our own checks have let through */
export function expectOk(response: Response): Response {
  if (response.ok) return response
  throw new Error(`signing in was answered with ${response.status}`)
}

export function forwardCookies(c: AuthContext, response: Response): void {
  for (const cookie of response.headers.getSetCookie()) c.header('Set-Cookie', cookie, { append: true })
}

/** Sends Better Auth's cookies with our own body: its body would show the session token to scripts. */
export function forwardAnswer(c: AuthContext, response: Response, body: object) {
  forwardCookies(c, response)
  return c.json(body)
}

export function clearSessionCookie(c: AuthContext, origin: string) {
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  c.header(
    'Set-Cookie',
    `${toSessionCookieName(origin)}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax${secure}`,
  )
}
