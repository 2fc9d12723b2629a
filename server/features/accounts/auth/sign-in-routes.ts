// Routes for sign-in: with a password, or at the operator's identity provider.

import { z } from 'zod'
import { isDirectRequest } from '../../../http/direct-request.ts'
import { text } from '../../../lib/api-fields.ts'
import { requirePasswordSlot } from '../../../lib/crypto/password.ts'
import { Failure, invalid, notFound, unavailable } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { EmailAddress, NAME_MAX } from '../schema.ts'
import { getInvitation } from '../workspaces/invitations.ts'
import { limitGuesses, limitSignIns, tokenLimits } from './auth-limits.ts'
import {
  type AuthRoutes,
  authFacts,
  expectOk,
  forwardAnswer,
  isFailureWith,
  parseBody,
  type SignInNeeds,
  toAuthRequest,
  toClientLimitKey,
} from './auth-request.ts'
import { type Auth, OIDC_PROVIDER, SIGN_IN_PAGE } from './better-auth.ts'
import { finishSignIn } from './finish-sign-in.ts'
import { hasDemoAccount, readFirstAccountState } from './first-account.ts'
import { findKnownDevice } from './known-devices.ts'
import { GivenPassword, PASSWORD_MAX, PASSWORD_MIN, PASSWORD_MIN_WITH_SECOND_FACTOR } from './password.ts'
import { keepSetupToken, mayMakeFirstAccount, readSetupToken } from './setup-access.ts'
import { recordFailedSignIn } from './sign-in-audit.ts'
import type { SignUpNeeds } from './sign-up.ts'

const TOKEN_MAX = 100
export const PersonNameField = text(1, NAME_MAX)
  .trim()
  .refine((value) => value !== '', 'must not be blank')
export const TokenField = text(1, TOKEN_MAX)

const SignIn = z.strictObject({ email: EmailAddress, password: GivenPassword })
const ProviderSignIn = z.strictObject({
  providerId: z.literal(OIDC_PROVIDER, { error: 'is not a provider of this server' }),
  callbackURL: text(1, 2000)
    .refine((path) => /^\/app(?:[/?#]|$)/.test(path), 'must be a path of the dashboard')
    .default('/app'),
  /** Confirms a person who has signed in already. */
  confirm: z.boolean().default(false),
  setup: TokenField.optional(),
})

export function addSignInRoutes(app: AuthRoutes, needs: SignInNeeds, auth: Auth) {
  const { db, limiter, now } = needs
  app.get('/options', authFacts('anybody'), async (c) => {
    const mayFound = isDirectRequest(c.env.peer, c.req.raw.headers, needs.origin)
    return c.json(await getSignInOptions(needs, mayFound))
  })

  app.get('/invitation', authFacts('anybody'), async (c) => {
    const token = c.req.query('token') ?? ''
    const find = () => getInvitation(db.read, token.slice(0, TOKEN_MAX), now())
    const { email, workspace } = await limitGuesses(
      limiter,
      tokenLimits(toClientLimitKey(needs, c)),
      find,
      isFailureWith('not_found'),
    )
    return c.json({ email, workspace })
  })

  app.post('/sign-in/email', authFacts('anybody'), async (c) => {
    const body = await parseBody(c, SignIn)
    requirePasswordSlot('people')
    const signIn = async () => {
      const answer = await auth.ask({ ...toAuthRequest(c), body })
      if (answer.status === 401) {
        recordFailedSignIn(needs, body.email)
        throw new Failure('signed_out', 'Wrong email address or password')
      }
      return expectOk(answer)
    }
    const device = await findKnownDevice(needs, c, body.email)
    const who = { email: body.email, from: toClientLimitKey(needs, c), device }
    const answer = await limitSignIns(limiter, who, signIn, isFailureWith('signed_out'))
    const secondFactor = await finishSignIn(needs, c, answer)
    return c.json(secondFactor ? { status: true, secondFactor } : { status: true })
  })
}

interface SignInOptions {
  /**
   * `first`: the installation is empty, and this caller may make the first account. `setup`: it is empty, and the
   * operator makes the first account. `operator`: there is no account, and only the command line makes one.
   */
  signup: 'first' | 'setup' | 'operator' | 'invite' | 'open'
  /** A person can already sign in as the demo account, although there is no other account. */
  demo?: true
  oidc: { name: string } | null
  /** Whether the server can mail a link to reset a password. Without mail the operator makes the link. */
  mail: boolean
  /** Length limits of a new password. */
  password: { min: number; minWithSecondFactor: number; max: number }
}

interface OptionsNeeds {
  db: Database
  signup: SignUpNeeds['signup']
  oidc?: { name: string }
  sendMail?: unknown
}

/**
 * Facts about the server for the sign-in and sign-up pages.
 * @param mayFound whether the caller may make the first account (first-account.ts)
 */
async function getSignInOptions(
  { db, signup, oidc, sendMail }: OptionsNeeds,
  mayFound: boolean,
): Promise<SignInOptions> {
  const state = await readFirstAccountState(db.read)
  const isDemo = state !== 'made' && (await hasDemoAccount(db.read))
  const whileEmpty = mayFound ? 'first' : 'setup'
  return {
    signup: state === 'empty' ? whileEmpty : state === 'operatorOnly' ? 'operator' : signup,
    ...(isDemo && { demo: true }),
    oidc: oidc ? { name: oidc.name } : null,
    mail: sendMail !== undefined,
    password: { min: PASSWORD_MIN, minWithSecondFactor: PASSWORD_MIN_WITH_SECOND_FACTOR, max: PASSWORD_MAX },
  }
}

export function addOidcRoutes(app: AuthRoutes, needs: SignInNeeds, auth: Auth) {
  const { oidc, origin } = needs
  app.post('/sign-in/oauth2', authFacts('anybody'), async (c) => {
    const { callbackURL, confirm, setup } = await parseBody(c, ProviderSignIn)
    if (!oidc) throw invalid({ providerId: 'is not a provider of this server' })
    if (setup !== undefined && (await mayMakeFirstAccount(needs, c, setup))) keepSetupToken(needs, c, setup)
    const body = {
      provider: OIDC_PROVIDER,
      callbackURL: origin + callbackURL,
      errorCallbackURL: origin + SIGN_IN_PAGE,
      disableRedirect: true,
      // The provider asks for the password again, although the person is signed in there (OpenID Connect Core 3.1.2.1).
      ...(confirm && { additionalParams: { prompt: 'login', max_age: '0' } }),
    }
    const answer = await auth.askProvider({ ...toAuthRequest(c), path: '/sign-in/social', body })
    // 404: Better Auth could not fetch the provider's discovery document.
    if (answer.status === 404) throw unavailable(new Error(`${oidc.issuer} cannot be reached`), 30)
    const { url } = (await expectOk(answer).json()) as { url: string }
    return forwardAnswer(c, answer, { url })
  })

  app.get(`/callback/${OIDC_PROVIDER}`, authFacts('anybody'), async (c) => {
    if (!oidc) throw notFound('')
    const mayFound = await mayMakeFirstAccount(needs, c, readSetupToken(c)).catch(() => false)
    const answer = await auth.askProvider({ ...toAuthRequest(c), mayFound }).catch((error) => {
      if (isFailureWith('forbidden')(error)) return 'suspended' as const
      log.error('sign_in_failed', { requestId: c.get('requestId'), ...describeError(error) })
      return undefined
    })
    if (answer === 'suspended') return c.redirect(`${origin}${SIGN_IN_PAGE}?error=account_suspended`)
    const location = answer?.headers.get('location')
    if (!answer || !location) return c.redirect(`${origin}${SIGN_IN_PAGE}?error=unavailable`)
    const secondFactor = await finishSignIn(needs, c, answer, { method: 'provider' })
    const next = `${origin}${SIGN_IN_PAGE}?step=second-factor&next=${encodeURIComponent(location.replace(origin, ''))}`
    return c.redirect(secondFactor ? next : location)
  })
}
