// Better Auth, as far as we use it: it checks passwords, makes sessions and their cookies, and speaks OpenID Connect.
// It is loaded when somebody first signs in: a server that only redirects never has its 30 MB. What is ours (who may
// sign up, workspaces, limits, answers) stays outside of it. docs/adr/0013-accounts.md

import { createHmac } from 'node:crypto'
import type { BetterAuthOptions, BetterAuthPlugin } from 'better-auth'
import { Failure, unavailable } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { SESSION_IDLE_MS, SESSION_MAX_MS, toSessionCookieName } from '../access/session.ts'
import { checkUserPassword, hashUserPassword, PASSWORD_MAX, PASSWORD_MIN } from './password.ts'
import { addPerson, type NewPerson, type SignUpNeeds, signUp } from './sign-up.ts'

export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
  /** What people call it: "Sign in with …". */
  name: string
}

export interface AuthNeeds extends SignUpNeeds {
  origin: string
  secret: string
  oidc?: OidcSettings
}

export const AUTH_PATH = '/api/auth'
export const OIDC_PROVIDER = 'oidc'
/** Where the dashboard shows what went wrong with a sign-in elsewhere: `?error=…`. */
export const SIGN_IN_PAGE = '/app/sign-in'

const DISCOVERY_MS = 10_000
const USER_AGENT_MAX = 256

export interface AuthRequest {
  method: 'GET' | 'POST'
  /** Below `AUTH_PATH`, with its query. */
  path: string
  /** Of the browser's request; only what it needs is passed on. */
  headers: Headers
  body?: unknown
}

type Handler = (request: Request) => Promise<Response>

export type Auth = ReturnType<typeof createAuth>

export function createAuth(needs: AuthNeeds) {
  // Two of them: an identity provider that does not answer must not hold up those who have a password.
  const password = createRetryingOnce(() => createHandler(needs, []))
  const elsewhere = createRetryingOnce(() => createHandler(needs, [createOidcPlugin]))

  async function ask(open: () => Promise<Handler>, asked: AuthRequest): Promise<Response> {
    const handle = await open()
    return handle(toRequest(needs.origin, asked))
  }
  return {
    ask: (asked: AuthRequest) => ask(password, asked),
    askProvider: (asked: AuthRequest) => ask(() => withTimeout(elsewhere()), asked),
  }
}

/** A failed opening is forgotten, so that the next one is tried anew. */
function createRetryingOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () => {
    opened ??= open().catch((error) => {
      opened = undefined
      throw error
    })
    return opened
  }
}

function withTimeout<T>(opening: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(unavailable(new Error('the identity provider did not answer in time')))
    setTimeout(fail, DISCOVERY_MS).unref()
  })
  return Promise.race([opening, late])
}

function toRequest(origin: string, { method, path, headers, body }: AuthRequest): Request {
  const passed = new Headers({ 'Content-Type': 'application/json' })
  for (const name of ['cookie', 'user-agent']) {
    const value = headers.get(name)
    if (value !== null) passed.set(name, value)
  }
  return new Request(origin + AUTH_PATH + path, {
    method,
    headers: passed,
    body: method === 'POST' ? JSON.stringify(body ?? {}) : undefined,
  })
}

type Plugin = (needs: AuthNeeds) => Promise<BetterAuthPlugin>

async function createHandler(needs: AuthNeeds, plugins: Plugin[]): Promise<Handler> {
  const { betterAuth } = await import('better-auth/minimal')
  const { handler, $context } = betterAuth({
    ...(await toBetterAuthOptions(needs)),
    plugins: await Promise.all([createSignUpPlugin, ...plugins].map((plugin) => plugin(needs))),
  })
  await $context
  return handler
}

async function toBetterAuthOptions(needs: AuthNeeds): Promise<BetterAuthOptions> {
  const { origin, secret, now } = needs
  const { AUTH_MODELS, createBetterAuthAdapter } = await import('./better-auth-adapter.ts')
  const secure = origin.startsWith('https:')
  const { session, ...models } = AUTH_MODELS
  return {
    ...models,
    session: {
      ...session,
      // How long the cookie is kept; the row's own end comes earlier and is moved on by session.ts.
      expiresIn: SESSION_MAX_MS / 1000,
      disableSessionRefresh: true,
      cookieCache: { enabled: false },
    },
    account: { ...models.account, updateAccountOnSignIn: false },
    baseURL: origin,
    basePath: AUTH_PATH,
    secret: createHmac('sha256', secret).update('towpath accounts').digest('hex'),
    database: createBetterAuthAdapter(needs.db, await createOidcUserCreator(needs)),
    databaseHooks: createHooks(now),
    emailAndPassword: {
      enabled: true,
      // Ours are asked first; these must not be narrower.
      minPasswordLength: PASSWORD_MIN,
      maxPasswordLength: PASSWORD_MAX * 8,
      password: { hash: hashUserPassword, verify: ({ password, hash }) => checkUserPassword(password, hash) },
    },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    onAPIError: { throw: true, errorURL: origin + SIGN_IN_PAGE },
    logger: { level: 'error', disableColors: true, log: forwardLog },
    advanced: {
      database: { generateId: 'serial', validateSchema: false },
      ipAddress: { disableIpTracking: true },
      // The rule of cross-origin.ts stands in front, and no address to go to comes from a request.
      disableCSRFCheck: true,
      disableOriginCheck: true,
      useSecureCookies: false,
      cookiePrefix: secure ? '__Host-towpath' : 'towpath',
      defaultCookieAttributes: { secure, httpOnly: true, sameSite: 'lax', path: '/' },
      cookies: { session_token: { name: toSessionCookieName(origin) } },
    },
  }
}

/** Its messages name no person; what it hands on beside them may. */
function forwardLog(_level: string, message: string, ...rest: unknown[]) {
  const error = rest.find((one) => one instanceof Error)
  log.error('sign_in_failed', { message, ...(error && describeError(error)) })
}

function createHooks(now: () => number): BetterAuthOptions['databaseHooks'] {
  return {
    session: {
      create: {
        async before({ userAgent }) {
          const at = now()
          const times = {
            createdAt: new Date(at),
            updatedAt: new Date(at),
            expiresAt: new Date(at + SESSION_IDLE_MS),
          }
          return {
            data: { ...times, ipAddress: null, userAgent: userAgent?.slice(0, USER_AGENT_MAX) || null },
          }
        },
      },
    },
    account: {
      create: {
        // Signing in is all that we want of another service: what would open it is not kept.
        async before() {
          return { data: { accessToken: null, refreshToken: null, idToken: null } }
        },
      },
    },
  }
}

/** Whoever signs in elsewhere for the first time is held to the same rule as everybody. */
async function createOidcUserCreator(needs: AuthNeeds) {
  const { APIError } = await import('better-auth/api')
  return async (db: Database, person: NewPerson) => {
    try {
      return (await addPerson({ ...needs, db }, person)).userId
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'unavailable') throw error
      throw new APIError('FORBIDDEN', { code: `sign_up_${error.code}`, message: error.message })
    }
  }
}

/** Better Auth's own sign-up would make the account first and ask nobody; this one hands over to our verb. */
async function createSignUpPlugin(needs: AuthNeeds): Promise<BetterAuthPlugin> {
  const { createAuthEndpoint } = await import('better-auth/api')
  const { setSessionCookie } = await import('better-auth/cookies')
  const signUpEmail = createAuthEndpoint('/sign-up/email', { method: 'POST' }, async (ctx) => {
    const { userId, workspaceId } = await signUp(needs, ctx.body as NewPerson & { password: string })
    const { internalAdapter } = ctx.context
    const session = await internalAdapter.createSession(String(userId))
    const user = await internalAdapter.findUserById(String(userId))
    if (!session || !user) throw new Error('the new account is not there')
    await setSessionCookie(ctx, { session, user })
    return ctx.json({ workspaceId })
  })
  return { id: 'towpath-sign-up', endpoints: { signUpEmail } }
}

async function createOidcPlugin({ oidc }: AuthNeeds): Promise<BetterAuthPlugin> {
  if (!oidc) throw new Error('no identity provider is configured')
  const { genericOAuth } = await import('better-auth/plugins/generic-oauth')
  return genericOAuth({
    config: [
      {
        providerId: OIDC_PROVIDER,
        name: oidc.name,
        discoveryUrl: `${oidc.issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`,
        clientId: oidc.clientId,
        clientSecret: oidc.clientSecret,
        scopes: ['openid', 'email', 'profile'],
        pkce: true,
        requireIdTokenVerification: true,
        disableProviderLogout: true,
      },
    ],
  }) as BetterAuthPlugin
}
