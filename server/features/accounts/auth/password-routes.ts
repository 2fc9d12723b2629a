// Routes for a lost password, a new password, and the change of password or name.

import { z } from 'zod'
import { Failure, invalid } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'
import { hasSecondFactor } from '../access/second-factors.ts'
import { EmailAddress } from '../schema.ts'
import {
  enforceLimits,
  limitGuesses,
  limitSignIns,
  mayMailReset,
  resetLimits,
  tokenLimits,
} from './auth-limits.ts'
import {
  type AuthRoutes,
  authFacts,
  clearSessionCookie,
  expectOk,
  forwardAnswer,
  isFailureWith,
  parseBody,
  requireSession,
  type SignInNeeds,
  toAuthRequest,
  toClientLimitKey,
} from './auth-request.ts'
import type { Auth } from './better-auth.ts'
import { findKnownDevice, rememberDevice } from './known-devices.ts'
import { PASSWORD_NOTICE, sendNotice } from './notices.ts'
import { GivenPassword, NewPassword, requireGoodPassword } from './password.ts'
import { mailResetLink, resetPassword } from './reset-password.ts'
import { recordAccountEvent } from './sign-in-audit.ts'
import { PersonNameField, TokenField } from './sign-in-routes.ts'
import { storeLanguage } from './store-language.ts'

const ResetRequest = z.strictObject({ email: EmailAddress })
const Reset = z.strictObject({ token: TokenField, newPassword: NewPassword })
const PasswordChange = z.strictObject({
  currentPassword: GivenPassword,
  newPassword: NewPassword,
  /** Always true: a person who knows only the old password must not stay signed in. */
  revokeOtherSessions: z.literal(true, { error: 'must be true, if it is said' }).default(true),
})
const LANGUAGE = 'must be the code of a language, such as de'
const UserChange = z
  .strictObject({
    name: PersonNameField.optional(),
    /** null: the browser's. */
    language: z
      .string(LANGUAGE)
      .regex(/^[a-z]{2,3}$/, LANGUAGE)
      .nullable()
      .optional(),
  })
  .refine(({ name, language }) => name !== undefined || language !== undefined, 'must change something')

export function addPasswordRoutes(app: AuthRoutes, needs: SignInNeeds, auth: Auth) {
  const { limiter, sendMail } = needs
  app.post('/request-password-reset', authFacts('anybody'), async (c) => {
    const { email } = await parseBody(c, ResetRequest)
    if (!sendMail)
      throw new Failure('forbidden', 'This server can’t send email. Ask its operator for a new password')
    await enforceLimits(limiter, resetLimits(toClientLimitKey(needs, c)))
    // The answer does not wait for the mail: its duration would tell whether the address has an account.
    mailResetLinkAtMost(limiter, email, () => mailResetLink({ ...needs, sendMail }, email)).catch((error) =>
      log.error('reset_not_mailed', { requestId: c.get('requestId'), ...describeError(error) }),
    )
    return c.json({ status: true })
  })
  app.post('/reset-password', authFacts('anybody'), async (c) => {
    const { token, newPassword } = await parseBody(c, Reset)
    const reset = () => resetPassword(needs, token, newPassword)
    const limits = tokenLimits(toClientLimitKey(needs, c))
    const { id, email } = await limitGuesses(limiter, limits, reset, isFailureWith('invalid'))
    sendNotice(needs, email, PASSWORD_NOTICE)
    clearSessionCookie(c, needs.origin)
    // The link was in the person's mailbox, so strangers' guesses must not slow down the next sign-in.
    rememberDevice(needs, c, id)
    return c.json({ status: true })
  })
  app.post('/change-password', authFacts('person', 'object', { fresh: true }), async (c) => {
    const { user } = await requireSession(needs, c)
    const body = await parseBody(c, PasswordChange)
    const owner = {
      ...user,
      origin: needs.origin,
      hasSecondFactor: await hasSecondFactor(needs.db.read, user.userId),
    }
    await requireGoodPassword(body.newPassword, owner, 'newPassword')
    const change = async () => {
      const answer = await auth.ask({ ...toAuthRequest(c), body })
      if (answer.status === 400) throw await toPasswordFailure(answer)
      return expectOk(answer)
    }
    // Shares the limits of sign-in, so that a person with a stolen session cannot guess the password here.
    const device = await findKnownDevice(needs, c, user.email)
    const who = { email: user.email, from: toClientLimitKey(needs, c), device }
    const answer = await limitSignIns(limiter, who, change, isFailureWith('invalid'))
    await recordAccountEvent(needs, user.userId, { action: 'password_changed' })
    sendNotice(needs, user.email, PASSWORD_NOTICE)
    return forwardAnswer(c, answer, { status: true })
  })
  app.post('/update-user', authFacts('person'), async (c) => {
    const { user } = await requireSession(needs, c)
    const { name, language } = await parseBody(c, UserChange)
    if (language !== undefined) await storeLanguage(needs, user.userId, language)
    if (name === undefined) return c.json({ status: true })
    const answer = expectOk(await auth.ask({ ...toAuthRequest(c), body: { name } }))
    return forwardAnswer(c, answer, { status: true })
  })
}

async function mailResetLinkAtMost(limiter: RateLimiter, email: string, mail: () => Promise<void>) {
  if (await mayMailReset(limiter, email)) await mail()
}

async function toPasswordFailure(answer: Response): Promise<Failure> {
  const { code } = (await answer.json()) as { code?: string }
  return code === 'CREDENTIAL_ACCOUNT_NOT_FOUND'
    ? new Failure('conflict', 'You sign in elsewhere and have no password here')
    : invalid({ currentPassword: 'is not your password' })
}
