// Proof of identity for sensitive changes, and the limits on guesses. A person with a second factor must use it: a
// thief of a session may know the password too.

import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { z } from 'zod'
import { text } from '../../../lib/api-fields.ts'
import { Failure, invalid } from '../../../lib/failure.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { hasSecondFactor } from '../access/second-factors.ts'
import { limitGuesses, signInLimits } from '../auth/auth-limits.ts'
import { type AuthContext, isFailureWith, type SignInNeeds, toClientLimitKey } from '../auth/auth-request.ts'
import { sendNotice } from '../auth/notices.ts'
import { checkUserPassword, GivenPassword } from '../auth/password.ts'
import { useAppCode } from './authenticator-app.ts'
import { usePasskey } from './passkeys.ts'
import { useRecoveryCode } from './recovery-codes.ts'

const MINUTE = 60_000
/** A challenge is one session that waits for its second factor, or one session that confirms. */
const TRIES = 5

const base64url = (max: number) => text(1, max).regex(/^[\w-]+$/, 'must be base64url')

/** The answer of a browser to a passkey ceremony (WebAuthn, AuthenticationResponseJSON). */
export const PasskeyResponse = z.object({
  id: base64url(1400),
  rawId: base64url(1400),
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url(4096),
    authenticatorData: base64url(4096),
    signature: base64url(8192),
    userHandle: base64url(200).optional(),
  }),
  clientExtensionResults: z.object({}).default({}),
})

const factors = {
  code: text(1, 20).optional(),
  recoveryCode: text(1, 40).optional(),
  passkey: PasskeyResponse.optional(),
}
const hasOne = (proof: object) => Object.values(proof).filter((value) => value !== undefined).length === 1

export const SecondFactorProof = z.strictObject(factors).refine(hasOne, {
  path: ['code'],
  message: 'is required, or another second factor in its place',
})
export const Proof = z.strictObject({ ...factors, password: GivenPassword.optional() }).refine(hasOne, {
  path: ['password'],
  message: 'is required, or a second factor in its place',
})

type ProofInput = z.infer<typeof Proof>

interface Person {
  userId: number
  email: string
  sessionId: number
}

/** @throws Failure `invalid` for a wrong proof, `too_many`, `conflict` when the person has no such way */
export async function checkProof(
  needs: SignInNeeds,
  c: AuthContext,
  person: Person,
  proof: ProofInput,
): Promise<void> {
  if (proof.password !== undefined) return checkOwnPassword(needs, c, person, proof.password)
  await checkFactor(needs, c, person, proof)
}

/** @throws Failure `invalid`, `too_many` */
export async function checkFactor(
  needs: SignInNeeds,
  c: AuthContext,
  person: Person,
  { code, recoveryCode, passkey }: ProofInput,
): Promise<void> {
  const { userId, email, sessionId } = person
  const limits = [
    { key: `second factor in session ${sessionId}`, max: TRIES, windowMs: 10 * MINUTE },
    {
      key: `second factor of ${userId} from ${toClientLimitKey(needs, c)}`,
      max: TRIES,
      windowMs: 15 * MINUTE,
    },
    // Three codes of a million are right at any time: at this rate a guess takes years. A limit by account can delay
    // its owner, who may still use a passkey or a recovery code.
    { key: `${code === undefined ? 'other' : 'code'} of ${userId}`, max: 100, windowMs: DAY_MS },
  ]
  const attempt = async () => {
    if (code !== undefined) return useAppCode(needs, userId, code.replace(/\s/g, ''))
    if (recoveryCode !== undefined) return spendRecoveryCode(needs, person, recoveryCode)
    await usePasskey(needs, userId, passkey as AuthenticationResponseJSON)
  }
  try {
    await limitGuesses(needs.limiter, limits, attempt, isFailureWith('invalid'))
  } catch (error) {
    if (isFailureWith('too_many')(error)) await noticeGuesses(needs, userId, email)
    throw error
  }
}

async function spendRecoveryCode(needs: SignInNeeds, { userId, email }: Person, code: string) {
  const left = await useRecoveryCode(needs, userId, code)
  sendNotice(needs, email, {
    kind: 'recoveryCodeUsed',
    text: `A recovery code was used in place of your second factor. You have ${left} left.`,
  })
}

/** A person who guesses a second factor has the password or a session. One email a day is enough. */
async function noticeGuesses(needs: SignInNeeds, userId: number, email: string) {
  const { allowed } = await needs.limiter.take(`notice of guesses ${userId}`, 1, DAY_MS)
  if (!allowed) return
  sendNotice(needs, email, {
    kind: 'secondFactorFailed',
    text: 'Someone with your password entered a wrong second factor five times.',
  })
}

async function checkOwnPassword(
  needs: SignInNeeds,
  c: AuthContext,
  { userId, email }: Person,
  password: string,
): Promise<void> {
  if (await hasSecondFactor(needs.db.read, userId))
    throw invalid({ password: 'is not enough: use your second factor' })
  const identity = await needs.db.read
    .selectFrom('identities')
    .select('password')
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .executeTakeFirst()
  const hash = identity?.password
  if (!hash) throw new Failure('conflict', 'You sign in elsewhere and have no password here')
  const check = async () => {
    if (!(await checkUserPassword(password, hash))) throw invalid({ password: 'is not your password' })
  }
  // Shares the limits of sign-in, so that a person with a stolen session cannot guess the password here.
  const limits = signInLimits(email, toClientLimitKey(needs, c))
  await limitGuesses(needs.limiter, limits, check, isFailureWith('invalid'))
}
