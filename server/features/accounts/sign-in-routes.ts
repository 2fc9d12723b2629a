// Signing up and in: with a password, or at the operator's identity provider.

import { z } from 'zod'
import { Failure, invalid, notFound, unavailable } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import { text } from '../../lib/wire.ts'
import { type Auth, OIDC, SIGN_IN_PAGE } from './auth.ts'
import { limited, signInLimits, signUpLimits, tokenLimits } from './auth-limits.ts'
import {
  asked,
  bodyOf,
  expectOk,
  from,
  isFailure,
  passOn,
  type Routes,
  type SignInNeeds,
} from './auth-request.ts'
import { findInvitation } from './invitations.ts'
import { signInOptions } from './options.ts'
import { GivenPassword, NewPassword } from './password.ts'
import { EmailAddress, NAME_MAX } from './schema.ts'

const TOKEN_MAX = 100
export const PersonName = text(1, NAME_MAX)
  .trim()
  .refine((value) => value !== '', 'must not be blank')
export const Token = text(1, TOKEN_MAX)

const SignUp = z.strictObject({
  name: PersonName,
  email: EmailAddress,
  password: NewPassword,
  invitation: Token.optional(),
})
const SignIn = z.strictObject({ email: EmailAddress, password: GivenPassword })
const SignInElsewhere = z.strictObject({
  providerId: z.literal(OIDC, { error: 'is not a provider of this server' }),
  callbackURL: text(1, 2000)
    .refine((path) => /^\/app(?:[/?#]|$)/.test(path), 'must be a path of the dashboard')
    .default('/app'),
})

export function addSigningIn(app: Routes, needs: SignInNeeds, auth: Auth) {
  const { rows, limiter, now } = needs
  app.get('/options', async (c) => c.json(await signInOptions(needs)))

  app.get('/invitation', async (c) => {
    const token = c.req.query('token') ?? ''
    const find = () => findInvitation(rows.read, token.slice(0, TOKEN_MAX), now())
    const { email, workspace } = await limited(
      limiter,
      tokenLimits(from(needs, c)),
      find,
      isFailure('not_found'),
    )
    return c.json({ email, workspace })
  })

  app.post('/sign-up/email', async (c) => {
    const body = await bodyOf(c, SignUp)
    const signUp = () => auth.ask({ ...asked(c), body })
    const answer = await limited(
      limiter,
      signUpLimits(from(needs, c)),
      signUp,
      isFailure('forbidden', 'not_found', 'conflict'),
    )
    return passOn(c, answer, (await answer.json()) as object)
  })

  app.post('/sign-in/email', async (c) => {
    const body = await bodyOf(c, SignIn)
    const signIn = async () => {
      const answer = await auth.ask({ ...asked(c), body })
      if (answer.status === 401) throw new Failure('signed_out', 'Wrong e-mail address or password')
      return expectOk(answer)
    }
    const limits = signInLimits(body.email, from(needs, c))
    return passOn(c, await limited(limiter, limits, signIn, isFailure('signed_out')), { status: true })
  })
}

export function addElsewhere(app: Routes, { oidc, origin }: SignInNeeds, auth: Auth) {
  app.post('/sign-in/oauth2', async (c) => {
    const { callbackURL } = await bodyOf(c, SignInElsewhere)
    if (!oidc) throw invalid({ providerId: 'is not a provider of this server' })
    const body = {
      provider: OIDC,
      callbackURL: origin + callbackURL,
      errorCallbackURL: origin + SIGN_IN_PAGE,
      disableRedirect: true,
    }
    const answer = await auth.askElsewhere({ ...asked(c), path: '/sign-in/social', body })
    // Not known: what it says of itself could not be fetched.
    if (answer.status === 404) throw unavailable(new Error(`${oidc.issuer} cannot be reached`), 30)
    const { url } = (await expectOk(answer).json()) as { url: string }
    return passOn(c, answer, { url })
  })

  app.get(`/callback/${OIDC}`, async (c) => {
    if (!oidc) throw notFound('')
    const answer = await auth.askElsewhere(asked(c)).catch((error) => {
      log.error('sign_in_failed', { requestId: c.get('requestId'), ...describeError(error) })
      return undefined
    })
    const to = answer?.headers.get('location')
    if (!answer || !to) return c.redirect(`${origin}${SIGN_IN_PAGE}?error=unavailable`)
    return passOn(c, answer, null, to)
  })
}
