// Routes for a person's second factors: the step after the password, the authenticator app and the recovery codes.

import QRCode from 'qrcode'
import { z } from 'zod'
import { text } from '../../../lib/api-fields.ts'
import { Failure, notFound } from '../../../lib/failure.ts'
import { hasSecondFactor } from '../access/second-factors.ts'
import { readSessionToken, type Session, toSessionCookieName } from '../access/session.ts'
import { enforceLimits, limitGuesses } from '../auth/auth-limits.ts'
import {
  type AuthContext,
  type AuthRoutes,
  authFacts,
  expectOk,
  forwardAnswer,
  isFailureWith,
  parseBody,
  requireSession,
  type SignInNeeds,
  toClientLimitKey,
} from '../auth/auth-request.ts'
import type { Auth } from '../auth/better-auth.ts'
import { beginSession, finishSignIn } from '../auth/finish-sign-in.ts'
import { sendNotice } from '../auth/notices.ts'
import { replaceSession } from '../auth/sessions.ts'
import { confirmAuthenticatorApp, startAuthenticatorApp } from './authenticator-app.ts'
import { completeFactor, describeFactors, removeFactor } from './factors.ts'
import { findPendingSignIn } from './pending-sign-in.ts'
import { checkFactor, checkProof, Proof, SecondFactorProof } from './proof.ts'
import { replaceRecoveryCodes } from './recovery-codes.ts'

const FirstCode = z.strictObject({ code: text(1, 20) })
const MINUTE = 60_000

/** The answer has a secret, so it is not stored and the route takes no Idempotency-Key. */
const FRESH = { fresh: true }
const FRESH_WITH_SECRET = { fresh: true, secretInAnswer: true }

/** The second step of a sign-in, and the confirmation of a person who has signed in. */
export function addProofRoutes(app: AuthRoutes, needs: SignInNeeds, auth: Auth) {
  app.get('/second-factor/pending', authFacts('anybody'), async (c) => {
    const pending = await findPendingSignIn(needs, readToken(needs, c))
    if (!pending) return c.json(null)
    const { authenticatorApp, passkeys, recoveryCodes } = await describeFactors(needs.db.read, pending.userId)
    return c.json({ authenticatorApp, passkey: passkeys.length > 0, recoveryCode: recoveryCodes > 0 })
  })
  app.post('/second-factor/verify', authFacts('anybody'), async (c) => {
    const proof = await parseBody(c, SecondFactorProof)
    const pending = await findPendingSignIn(needs, readToken(needs, c))
    if (!pending) throw new Failure('signed_out', 'The sign-in took too long: begin again')
    await checkFactor(needs, c, pending, proof)
    const answer = expectOk(await beginSession(auth, c, pending.userId))
    await finishSignIn(needs, c, answer, { method: 'second factor' })
    return c.json({ status: true })
  })
  app.post('/confirm', authFacts('person'), async (c) => {
    const { id, user } = await requireSession(needs, c)
    await checkProof(needs, c, { ...user, sessionId: id }, await parseBody(c, Proof))
    // A new session with a new token (OWASP ASVS 5.0, 7.2.4). Requests on their way may still have the old one.
    const answer = expectOk(await beginSession(auth, c, user.userId))
    await replaceSession(needs, id)
    return forwardAnswer(c, answer, { status: true })
  })
}

export function addAuthenticatorAppRoutes(app: AuthRoutes, needs: SignInNeeds) {
  const { db, limiter } = needs
  app.get('/second-factor', authFacts('person'), async (c) =>
    c.json(await describeFactors(db.read, (await requireSession(needs, c)).user.userId)),
  )
  app.post('/second-factor/app', authFacts('person', 'none', FRESH_WITH_SECRET), async (c) => {
    const { user } = await requireSession(needs, c)
    const { secret, uri } = await startAuthenticatorApp(needs, user)
    return c.json({ secret, uri, qrCode: await renderQrCode(uri) })
  })
  app.post('/second-factor/app/confirm', authFacts('person', 'object', FRESH_WITH_SECRET), async (c) => {
    const session = await requireSession(needs, c)
    const { userId } = session.user
    const { code } = await parseBody(c, FirstCode)
    const limits = [
      { key: `first code of ${userId} from ${toClientLimitKey(needs, c)}`, max: 10, windowMs: 15 * MINUTE },
    ]
    const confirm = () => confirmAuthenticatorApp(needs, userId, code.replace(/\s/g, ''))
    await limitGuesses(limiter, limits, confirm, isFailureWith('invalid'))
    return c.json({ recoveryCodes: await announceFactor(needs, session, 'An authenticator app') })
  })
  app.post('/second-factor/app/remove', authFacts('person', 'none', FRESH), async (c) => {
    const { id, user } = await requireSession(needs, c)
    if (!(await removeFactor(needs, { userId: user.userId, sessionId: id }, 'app')))
      throw notFound('Authenticator app')
    announceRemoval(needs, user.email, 'The authenticator app')
    return c.json({ status: true })
  })
  app.post('/second-factor/recovery-codes', authFacts('person', 'none', FRESH_WITH_SECRET), async (c) => {
    const { user } = await requireSession(needs, c)
    if (!(await hasSecondFactor(db.read, user.userId)))
      throw new Failure('conflict', 'Set up an authenticator app or a passkey first')
    const limits = [{ key: `recovery codes of ${user.userId}`, max: 20, windowMs: 60 * MINUTE }]
    await enforceLimits(limiter, limits)
    const recoveryCodes = await replaceRecoveryCodes(needs, user.userId)
    sendNotice(needs, user.email, {
      kind: 'recoveryCodesCreated',
      text: 'New recovery codes were created. The earlier ones no longer work.',
    })
    return c.json({ recoveryCodes })
  })
}

/** @param name of the factor, as it begins a sentence @returns new recovery codes, or null */
export async function announceFactor(
  needs: SignInNeeds,
  { id, user }: Session,
  name: string,
): Promise<string[] | null> {
  const codes = await completeFactor(needs, { userId: user.userId, sessionId: id })
  sendNotice(needs, user.email, {
    kind: 'secondFactorAdded',
    text: `${name} was added as a second factor. All other sessions have ended.`,
  })
  return codes
}

/** @param name of the factor, as it begins a sentence */
export const announceRemoval = (needs: SignInNeeds, email: string, name: string) =>
  sendNotice(needs, email, {
    kind: 'secondFactorRemoved',
    text: `${name} is no longer a second factor of your account. All other sessions have ended.`,
  })

const readToken = (needs: SignInNeeds, c: AuthContext) =>
  readSessionToken(c.req.header('cookie'), toSessionCookieName(needs.origin))

/** The server draws the code, so that the dashboard needs no library for it. */
const renderQrCode = async (uri: string) =>
  `data:image/svg+xml;base64,${Buffer.from(await QRCode.toString(uri, { type: 'svg', margin: 4 })).toString('base64')}`
