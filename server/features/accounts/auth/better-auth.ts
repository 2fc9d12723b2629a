// Better Auth checks passwords, makes sessions and their cookies, and speaks OpenID Connect. Our own code decides who
// may sign up, and does workspaces, limits and answers (docs/adr/0013-accounts.md). The first sign-in loads Better
// Auth: a server that only redirects saves 30 MB of memory.

import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac } from 'node:crypto'
import type { BetterAuthOptions, BetterAuthPlugin } from 'better-auth'
import { trimEnd } from '../../../lib/clean-text.ts'
import { Failure, unavailable } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { hasSecondFactor } from '../access/second-factors.ts'
import { SESSION_IDLE_MS, SESSION_MAX_MS, toSessionCookieName } from '../access/session.ts'
import { createClaimChecks } from './oidc-claims.ts'
import {
  checkUserPassword,
  hashUserPassword,
  PASSWORD_MAX,
  PASSWORD_MIN_WITH_SECOND_FACTOR,
} from './password.ts'
import { addPerson, type NewPerson, type NewPersonWithPassword, type SignUpNeeds, signUp } from './sign-up.ts'
import { refuseSuspendedUser } from './suspend-user.ts'

export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
  /** The name on the button "Sign in with …". */
  name: string
}

export interface AuthNeeds extends SignUpNeeds {
  origin: string
  secret: string
  oidc?: OidcSettings
}

export const AUTH_PATH = '/api/auth'
export const OIDC_PROVIDER = 'oidc'
/** The page of the dashboard that shows a failed sign-in at the identity provider: `?error=…`. */
export const SIGN_IN_PAGE = '/app/sign-in'

const DISCOVERY_MS = 10_000
const USER_AGENT_MAX = 256
/** Time limit between the password and the second factor. */
const SECOND_FACTOR_WAIT_MS = 10 * 60 * 1000
/** Sessions of these endpoints are whole: a second factor was shown before, or the session that asks had one. */
const WHOLE_SESSION_PATHS = ['/begin-session', '/change-password']

export interface AuthRequest {
  method: 'GET' | 'POST'
  /** The path below `AUTH_PATH`, with its query. */
  path: string
  /** The headers of the browser's request; `toRequest` passes on the needed ones only. */
  headers: Headers
  body?: unknown
  /** The request may make the first account of the installation. */
  mayFound?: boolean
}

type Handler = (request: Request) => Promise<Response>

export type Auth = ReturnType<typeof createAuth>

export function createAuth(needs: AuthNeeds) {
  // Two handlers: an unresponsive identity provider must not delay people with a password.
  const password = openOnce(() => createHandler(needs, []))
  const provider = openOnce(() => createHandler(needs, [createOidcPlugin]))

  async function ask(open: () => Promise<Handler>, request: AuthRequest): Promise<Response> {
    const handle = await open()
    return handle(toRequest(needs.origin, request))
  }
  return {
    ask: (request: AuthRequest) => ask(password, request),
    askProvider: (request: AuthRequest) =>
      founding.run(request.mayFound === true, () => ask(() => withTimeout(provider()), request)),
  }
}

/** Whether the running sign-in at the provider may make the first account. Better Auth passes on no such word. */
const founding = new AsyncLocalStorage<boolean>()

/** Opens once, and opens again after a failure. */
function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
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
  const timeout = new Promise<never>((_, reject) => {
    const fail = () => reject(unavailable(new Error('the identity provider did not answer in time')))
    setTimeout(fail, DISCOVERY_MS).unref()
  })
  return Promise.race([opening, timeout])
}

function toRequest(origin: string, { method, path, headers, body }: AuthRequest): Request {
  const passedHeaders = new Headers({ 'Content-Type': 'application/json' })
  for (const name of ['cookie', 'user-agent']) {
    const value = headers.get(name)
    if (value !== null) passedHeaders.set(name, value)
  }
  return new Request(origin + AUTH_PATH + path, {
    method,
    headers: passedHeaders,
    body: method === 'POST' ? JSON.stringify(body ?? {}) : undefined,
  })
}

type Plugin = (needs: AuthNeeds) => Promise<BetterAuthPlugin>

async function createHandler(needs: AuthNeeds, plugins: Plugin[]): Promise<Handler> {
  const { betterAuth } = await import('better-auth/minimal')
  const { handler, $context } = betterAuth({
    ...(await toBetterAuthOptions(needs)),
    plugins: await Promise.all(
      [createSignUpPlugin, createSessionPlugin, ...plugins].map((plugin) => plugin(needs)),
    ),
  })
  await $context
  return handler
}

async function toBetterAuthOptions(needs: AuthNeeds): Promise<BetterAuthOptions> {
  const { origin, secret } = needs
  const { AUTH_MODELS, createBetterAuthAdapter } = await import('./better-auth-adapter.ts')
  const secure = origin.startsWith('https:')
  const { session, ...models } = AUTH_MODELS
  return {
    ...models,
    session: {
      ...session,
      additionalFields: { awaitsSecondFactor: AWAITS_SECOND_FACTOR },
      // The age of the cookie. The row in the database ends earlier, and access/session.ts moves its end on.
      expiresIn: SESSION_MAX_MS / 1000,
      disableSessionRefresh: true,
      cookieCache: { enabled: false },
    },
    account: { ...models.account, updateAccountOnSignIn: false },
    baseURL: origin,
    basePath: AUTH_PATH,
    secret: createHmac('sha256', secret).update('towpath accounts').digest('hex'),
    database: createBetterAuthAdapter(needs.db, await createOidcUserCreator(needs)),
    databaseHooks: createHooks(needs),
    emailAndPassword: {
      enabled: true,
      // Our own rules run first (password.ts). These must not be stricter.
      minPasswordLength: PASSWORD_MIN_WITH_SECOND_FACTOR,
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
      // access/cross-origin.ts checks every request before, and no redirect target comes from a request.
      disableCSRFCheck: true,
      disableOriginCheck: true,
      useSecureCookies: false,
      cookiePrefix: secure ? '__Host-towpath' : 'towpath',
      defaultCookieAttributes: { secure, httpOnly: true, sameSite: 'lax', path: '/' },
      cookies: { session_token: { name: toSessionCookieName(origin) } },
    },
  }
}

/** Logs the message and the error. The other arguments are left out, because they can name a person. */
function forwardLog(_level: string, message: string, ...rest: unknown[]) {
  const error = rest.find((value) => value instanceof Error)
  log.error('sign_in_failed', { message, ...(error && describeError(error)) })
}

/** A field of our own in Better Auth's model of a session. */
const AWAITS_SECOND_FACTOR = {
  type: 'number',
  fieldName: 'awaits_second_factor',
  required: false,
  input: false,
} as const

function createHooks({ db, now }: AuthNeeds): BetterAuthOptions['databaseHooks'] {
  return {
    session: {
      create: {
        async before({ userId, userAgent }, ctx) {
          await refuseSuspendedUser(db.read, Number(userId))
          const at = now()
          // Every way to sign in passes here, so that none can leave out the second factor.
          const isWhole = WHOLE_SESSION_PATHS.includes(ctx?.path ?? '')
          const awaits = !isWhole && (await hasSecondFactor(db.read, Number(userId)))
          const times = {
            createdAt: new Date(at),
            updatedAt: new Date(at),
            expiresAt: new Date(at + (awaits ? SECOND_FACTOR_WAIT_MS : SESSION_IDLE_MS)),
          }
          return {
            data: {
              ...times,
              ipAddress: null,
              userAgent: userAgent?.slice(0, USER_AGENT_MAX) || null,
              awaitsSecondFactor: awaits ? 1 : 0,
            },
          }
        },
      },
    },
    account: {
      create: {
        // The provider is for signing in only: its access tokens are not stored.
        async before() {
          return { data: { accessToken: null, refreshToken: null, idToken: null } }
        },
      },
    },
  }
}

/** A first sign-in at the identity provider follows the same sign-up rules as a sign-up with a password. */
async function createOidcUserCreator(needs: AuthNeeds) {
  const { APIError } = await import('better-auth/api')
  return async (db: Database, person: NewPerson) => {
    try {
      return (await addPerson({ ...needs, db }, { ...person, mayFound: founding.getStore() === true })).userId
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'unavailable') throw error
      throw new APIError('FORBIDDEN', { code: `sign_up_${error.code}`, message: error.message })
    }
  }
}

/** Replaces Better Auth's own sign-up, which lets everybody in, by our `signUp`. */
async function createSignUpPlugin(needs: AuthNeeds): Promise<BetterAuthPlugin> {
  const { createAuthEndpoint } = await import('better-auth/api')
  const { setSessionCookie } = await import('better-auth/cookies')
  const signUpEmail = createAuthEndpoint('/sign-up/email', { method: 'POST' }, async (ctx) => {
    const { userId, workspaceId } = await signUp(needs, ctx.body as NewPersonWithPassword)
    const { internalAdapter } = ctx.context
    const session = await internalAdapter.createSession(String(userId))
    const user = await internalAdapter.findUserById(String(userId))
    if (!session || !user) throw new Error('the new account is not there')
    await setSessionCookie(ctx, { session, user })
    return ctx.json({ workspaceId })
  })
  return { id: 'towpath-sign-up', endpoints: { signUpEmail } }
}

/** Adds an endpoint that begins a session without a password. public.ts has no route to it. */
async function createSessionPlugin(): Promise<BetterAuthPlugin> {
  const { createAuthEndpoint } = await import('better-auth/api')
  const { setSessionCookie } = await import('better-auth/cookies')
  const beginSession = createAuthEndpoint('/begin-session', { method: 'POST' }, async (ctx) => {
    const { userId } = ctx.body as { userId: number }
    const { internalAdapter } = ctx.context
    const user = await internalAdapter.findUserById(String(userId))
    const session = user && (await internalAdapter.createSession(user.id))
    if (!session) throw new Error('the account is not there')
    await setSessionCookie(ctx, { session, user })
    return ctx.json({})
  })
  return { id: 'towpath-session', endpoints: { beginSession } }
}

async function createOidcPlugin({ oidc, now }: AuthNeeds): Promise<BetterAuthPlugin> {
  if (!oidc) throw new Error('no identity provider is configured')
  const { genericOAuth } = await import('better-auth/plugins/generic-oauth')
  return genericOAuth({
    config: [
      {
        providerId: OIDC_PROVIDER,
        name: oidc.name,
        discoveryUrl: `${trimEnd(oidc.issuer, '/')}/.well-known/openid-configuration`,
        clientId: oidc.clientId,
        clientSecret: oidc.clientSecret,
        scopes: ['openid', 'email', 'profile'],
        pkce: true,
        requireIdTokenVerification: true,
        disableProviderLogout: true,
        ...createClaimChecks(oidc, now),
      },
    ],
  }) as BetterAuthPlugin
}
