// Routes for new accounts: the first one, accounts of invited people, and those of everyone with `SIGNUP=open`.

import { z } from 'zod'
import { Failure, invalid, notFound } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { EmailAddress } from '../schema.ts'
import { enforceLimits, limitGuesses, signUpLimits, signUpMailLimits, tokenLimits } from './auth-limits.ts'
import {
  type AuthContext,
  type AuthRoutes,
  authFacts,
  isFailureWith,
  parseBody,
  type SignInNeeds,
  toAuthRequest,
  toClientLimitKey,
} from './auth-request.ts'
import type { Auth } from './better-auth.ts'
import { finishSignIn } from './finish-sign-in.ts'
import { isSetupToken, readFirstAccountState } from './first-account.ts'
import { NewPassword } from './password.ts'
import { mayMakeFirstAccount } from './setup-access.ts'
import { PersonNameField, TokenField } from './sign-in-routes.ts'
import type { NewPersonWithPassword } from './sign-up.ts'
import { getSignUpEmail, mailSignUpLink } from './sign-up-link.ts'

const SignUp = z.strictObject({
  name: PersonNameField.optional(),
  email: EmailAddress,
  password: NewPassword.optional(),
  invitation: TokenField.optional(),
  confirmation: TokenField.optional(),
  setup: TokenField.optional(),
})
type SignUpBody = z.infer<typeof SignUp>
const SignUpRequest = z.strictObject({ email: EmailAddress })

export function addSignUpRoutes(app: AuthRoutes, needs: SignInNeeds, auth: Auth) {
  const { db, limiter, now } = needs

  app.get('/setup', authFacts('anybody'), async (c) => {
    const check = async () => {
      const right = isSetupToken(needs.secret, c.req.query('token') ?? '')
      if (!right || (await readFirstAccountState(db.read)) !== 'empty') throw notFound('Setup')
    }
    await limitGuesses(limiter, tokenLimits(toClientLimitKey(needs, c)), check, isFailureWith('not_found'))
    return c.json({ status: true })
  })

  app.get('/sign-up/confirmation', authFacts('anybody'), async (c) => {
    const find = () => getSignUpEmail(db.read, c.req.query('token') ?? '', now())
    const limits = tokenLimits(toClientLimitKey(needs, c))
    return c.json({ email: await limitGuesses(limiter, limits, find, isFailureWith('not_found')) })
  })

  app.post('/sign-up/request', authFacts('anybody'), async (c) => {
    const { email } = await parseBody(c, SignUpRequest)
    await requestSignUp(needs, c, email)
    return c.json({ status: true })
  })

  app.post('/sign-up/email', authFacts('anybody'), async (c) => {
    const body = await parseBody(c, SignUp)
    const { setup, ...person } = body
    const mayFound = await mayMakeFirstAccount(needs, c, setup)
    if (await startsWithMail(needs, body)) {
      await requestSignUp(needs, c, body.email)
      return c.json({ status: true })
    }
    const signUp = () =>
      auth.ask({ ...toAuthRequest(c), body: { ...requireNameAndPassword(person), mayFound } })
    const answer = await limitGuesses(
      limiter,
      signUpLimits(toClientLimitKey(needs, c)),
      signUp,
      isFailureWith('forbidden', 'not_found', 'conflict'),
    )
    await finishSignIn(needs, c, answer, { isSignUp: true })
    return c.json((await answer.json()) as object)
  })
}

/** Under `SIGNUP=open`, a person without a link gets one by mail. */
const startsWithMail = async ({ db, signup }: SignInNeeds, { invitation, confirmation }: SignUpBody) =>
  signup === 'open' &&
  invitation === undefined &&
  confirmation === undefined &&
  (await readFirstAccountState(db.read)) === 'made'

/** The answer does not wait for the mail: its duration would tell whether the address has an account. */
async function requestSignUp(needs: SignInNeeds, c: AuthContext, email: string): Promise<void> {
  const { db, limiter, sendMail, signup } = needs
  const isOpen = signup === 'open' && (await readFirstAccountState(db.read)) === 'made'
  if (!isOpen || !sendMail) throw new Failure('forbidden', 'Sign-up is by invitation')
  await enforceLimits(limiter, signUpMailLimits(toClientLimitKey(needs, c)))
  mailSignUpLink({ ...needs, sendMail }, email).catch((error) =>
    log.error('sign_up_not_mailed', { requestId: c.get('requestId'), ...describeError(error) }),
  )
}

/** @throws Failure `invalid` */
function requireNameAndPassword({
  name,
  password,
  ...rest
}: Omit<SignUpBody, 'setup'>): NewPersonWithPassword {
  const missing = Object.entries({ name, password }).filter(([, value]) => value === undefined)
  if (name === undefined || password === undefined)
    throw invalid(Object.fromEntries(missing.map(([field]) => [field, 'is required'])))
  return { ...rest, name, password }
}
