// Routes for a person's own account: another email address, and the end of the account.

import { z } from 'zod'
import { text } from '../../../lib/api-fields.ts'
import { EMAIL_MAX } from '../../../lib/email.ts'
import { Failure } from '../../../lib/failure.ts'
import { enforceLimits, limitGuesses, tokenLimits } from '../auth/auth-limits.ts'
import {
  type AuthContext,
  type AuthRoutes,
  authFacts,
  clearSessionCookie,
  isFailureWith,
  parseBody,
  requireSession,
  type SignInNeeds,
  toClientLimitKey,
} from '../auth/auth-request.ts'
import { sendNotice } from '../auth/notices.ts'
import { createResetLink } from '../auth/reset-password.ts'
import { EmailAddress } from '../schema.ts'
import { confirmEmailChange, requestEmailChange, undoEmailChange } from './change-email.ts'
import { type DeleteAccountNeeds, deleteAccount, describeDeletion } from './delete-account.ts'

const EmailChange = z.strictObject({ newEmail: EmailAddress })
const EmailLink = z.strictObject({ token: text(1, 100) })
const AccountEnd = z.strictObject({ confirm: text(1, EMAIL_MAX) })
const HOUR = 60 * 60 * 1000

export function addEmailRoutes(app: AuthRoutes, needs: SignInNeeds) {
  const { limiter, sendMail } = needs
  const limitTokens = <T>(c: AuthContext, open: () => Promise<T>) =>
    limitGuesses(limiter, tokenLimits(toClientLimitKey(needs, c)), open, isFailureWith('invalid'))

  app.post('/change-email', authFacts('person', 'object', { fresh: true }), async (c) => {
    const { user } = await requireSession(needs, c)
    const { newEmail } = await parseBody(c, EmailChange)
    if (!sendMail)
      throw new Failure('forbidden', 'This server can’t send email, so a new address can’t be confirmed')
    // Each request mails a stranger's address.
    await enforceLimits(limiter, [{ key: `address change of ${user.userId}`, max: 5, windowMs: HOUR }])
    await requestEmailChange({ ...needs, sendMail }, user, newEmail)
    return c.json({ status: true })
  })
  app.post('/change-email/confirm', authFacts('anybody'), async (c) => {
    const { token } = await parseBody(c, EmailLink)
    await limitTokens(c, () => confirmEmailChange(needs, token))
    return c.json({ status: true })
  })
  app.post('/change-email/undo', authFacts('anybody', 'object', { secretInAnswer: true }), async (c) => {
    const { token } = await parseBody(c, EmailLink)
    const { userId } = await limitTokens(c, () => undoEmailChange(needs, token))
    clearSessionCookie(c, needs.origin)
    return c.json({ resetUrl: await createResetLink(needs, userId) })
  })
}

export function addAccountDeletionRoutes(app: AuthRoutes, needs: SignInNeeds & DeleteAccountNeeds) {
  app.get('/delete-account', authFacts('person'), async (c) =>
    c.json(await describeDeletion(needs.db.read, (await requireSession(needs, c)).user.userId)),
  )
  app.post('/delete-account', authFacts('person', 'object', { fresh: true }), async (c) => {
    const { user } = await requireSession(needs, c)
    const { confirm } = await parseBody(c, AccountEnd)
    await deleteAccount(needs, user, confirm)
    sendNotice(needs, user.email, {
      kind: 'accountDeleted',
      text: 'Your account was deleted, along with the workspaces that only you were in.',
      remedy: 'tell the operator of the server.',
    })
    clearSessionCookie(c, needs.origin)
    return c.json({ status: true })
  })
}
