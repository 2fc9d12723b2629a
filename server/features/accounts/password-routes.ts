// A person's password and name: lost, reset and changed.

import { z } from 'zod'
import { Failure, invalid } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Auth } from './auth.ts'
import { limited, resetLimits, signInLimits, takeAll, tokenLimits } from './auth-limits.ts'
import {
  asked,
  bodyOf,
  expectOk,
  forgetCookie,
  from,
  isFailure,
  passOn,
  type Routes,
  type SignInNeeds,
  signedIn,
} from './auth-request.ts'
import { GivenPassword, NewPassword } from './password.ts'
import { mailResetLink, resetPassword } from './reset.ts'
import { EmailAddress } from './schema.ts'
import { PersonName, Token } from './sign-in-routes.ts'

const ResetRequest = z.strictObject({ email: EmailAddress })
const Reset = z.strictObject({ token: Token, newPassword: NewPassword })
const PasswordChange = z.strictObject({
  currentPassword: GivenPassword,
  newPassword: NewPassword,
  /** There is no other way: whoever knew the old one must not stay. */
  revokeOtherSessions: z.literal(true, { error: 'must be true, if it is said' }).default(true),
})
const UserChange = z.strictObject({ name: PersonName })

export function addPasswords(app: Routes, needs: SignInNeeds, auth: Auth) {
  const { limiter, sendMail } = needs
  app.post('/request-password-reset', async (c) => {
    const { email } = await bodyOf(c, ResetRequest)
    if (!sendMail)
      throw new Failure('forbidden', 'This server sends no mail: ask its operator for a new password')
    await takeAll(limiter, resetLimits(email, from(needs, c)))
    // Not waited for: how long it takes would say whether the address is known.
    mailResetLink({ ...needs, sendMail }, email).catch((error) =>
      log.error('reset_not_mailed', { requestId: c.get('requestId'), ...describeError(error) }),
    )
    return c.json({ status: true })
  })
  app.post('/reset-password', async (c) => {
    const { token, newPassword } = await bodyOf(c, Reset)
    const reset = () => resetPassword(needs, token, newPassword)
    await limited(limiter, tokenLimits(from(needs, c)), reset, isFailure('invalid'))
    forgetCookie(c, needs.origin)
    return c.json({ status: true })
  })
  app.post('/change-password', async (c) => {
    const { user } = await signedIn(needs, c)
    const body = await bodyOf(c, PasswordChange)
    const change = async () => {
      const answer = await auth.ask({ ...asked(c), body })
      if (answer.status === 400) throw await passwordRefusal(answer)
      return expectOk(answer)
    }
    // The same count as for signing in: who has found a session must not guess here instead.
    const limits = signInLimits(user.email, from(needs, c))
    return passOn(c, await limited(limiter, limits, change, isFailure('invalid')), { status: true })
  })
  app.post('/update-user', async (c) => {
    await signedIn(needs, c)
    return passOn(c, expectOk(await auth.ask({ ...asked(c), body: await bodyOf(c, UserChange) })), {
      status: true,
    })
  })
}

async function passwordRefusal(answer: Response): Promise<Failure> {
  const { code } = (await answer.json()) as { code?: string }
  return code === 'CREDENTIAL_ACCOUNT_NOT_FOUND'
    ? new Failure('conflict', 'You sign in elsewhere and have no password here')
    : invalid({ currentPassword: 'is not your password' })
}
