// Routes for passkeys: register, rename and remove them, and sign in with one in place of a password.

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { z } from 'zod'
import { text } from '../../../lib/api-fields.ts'
import { Failure, notFound } from '../../../lib/failure.ts'
import { findSession, readSessionToken, toSessionCookieName } from '../access/session.ts'
import { limitGuesses, tokenLimits } from '../auth/auth-limits.ts'
import {
  type AuthContext,
  type AuthRoutes,
  authFacts,
  expectOk,
  isFailureWith,
  parseBody,
  requireSession,
  type SignInNeeds,
  toClientLimitKey,
} from '../auth/auth-request.ts'
import type { Auth } from '../auth/better-auth.ts'
import { beginSession, finishSignIn } from '../auth/finish-sign-in.ts'
import { removeFactor } from './factors.ts'
import {
  addPasskey,
  createRegistrationOptions,
  createSignInOptions,
  renamePasskey,
  usePasskey,
} from './passkeys.ts'
import { findPendingSignIn } from './pending-sign-in.ts'
import { PasskeyResponse } from './proof.ts'
import { announceFactor, announceRemoval } from './second-factor-routes.ts'

const name = text(1, 100)
  .trim()
  .refine((value) => value !== '', 'must not be blank')
const id = z.int({ error: 'must be the id of a passkey' })

/** The answer of a browser to the registration of a passkey (WebAuthn, RegistrationResponseJSON). */
const NewPasskey = z.strictObject({
  name,
  passkey: PasskeyResponse.extend({
    response: z.object({
      clientDataJSON: text(1, 4096),
      attestationObject: text(1, 32_768),
      transports: z.array(text(1, 32)).max(10).optional(),
    }),
  }),
})
/** The answer may have recovery codes. */
const FRESH_WITH_SECRET = { fresh: true, secretInAnswer: true }
const PasskeyName = z.strictObject({ id, name })
const PasskeySelection = z.strictObject({ id })
const PasskeySignIn = z.strictObject({ passkey: PasskeyResponse })

export function addPasskeyRoutes(app: AuthRoutes, needs: SignInNeeds) {
  app.post('/passkeys/register-options', authFacts('person', 'none', { fresh: true }), async (c) =>
    c.json(await createRegistrationOptions(needs, (await requireSession(needs, c)).user)),
  )
  app.post('/passkeys/register', authFacts('person', 'object', FRESH_WITH_SECRET), async (c) => {
    const session = await requireSession(needs, c)
    const { userId } = session.user
    const { name, passkey } = await parseBody(c, NewPasskey)
    await addPasskey(needs, userId, { name, response: passkey as RegistrationResponseJSON })
    return c.json({ recoveryCodes: await announceFactor(needs, session, 'A passkey') })
  })
  app.post('/passkeys/rename', authFacts('person'), async (c) => {
    const { user } = await requireSession(needs, c)
    const { id, name } = await parseBody(c, PasskeyName)
    await renamePasskey(needs, user.userId, id, name)
    return c.json({ status: true })
  })
  app.post('/passkeys/remove', authFacts('person', 'object', { fresh: true }), async (c) => {
    const { id: sessionId, user } = await requireSession(needs, c)
    const { id } = await parseBody(c, PasskeySelection)
    if (!(await removeFactor(needs, { userId: user.userId, sessionId }, { passkeyId: id })))
      throw notFound('Passkey')
    announceRemoval(needs, user.email, 'A passkey')
    return c.json({ status: true })
  })
}

export function addPasskeySignInRoutes(app: AuthRoutes, needs: SignInNeeds, auth: Auth) {
  app.post('/passkeys/sign-in-options', authFacts('anybody', 'none'), async (c) =>
    c.json(await createSignInOptions(needs, 0)),
  )
  /** For a person who has signed in, or who has given their password and now gives the second factor. */
  app.post('/passkeys/options', authFacts('anybody', 'none'), async (c) =>
    c.json(await createSignInOptions(needs, await getPresentPerson(needs, c))),
  )
  app.post('/sign-in/passkey', authFacts('anybody'), async (c) => {
    const { passkey } = await parseBody(c, PasskeySignIn)
    const check = () => usePasskey(needs, 0, passkey as AuthenticationResponseJSON)
    const limits = tokenLimits(toClientLimitKey(needs, c))
    const userId = await limitGuesses(needs.limiter, limits, check, isFailureWith('invalid'))
    const answer = expectOk(await beginSession(auth, c, userId))
    await finishSignIn(needs, c, answer, { method: 'passkey' })
    return c.json({ status: true })
  })
}

/** @throws Failure `conflict` */
async function getPresentPerson(needs: SignInNeeds, c: AuthContext): Promise<number> {
  const token = readSessionToken(c.req.header('cookie'), toSessionCookieName(needs.origin)) ?? ''
  const session = await findSession(needs, token)
  const userId = session?.user.userId ?? (await findPendingSignIn(needs, token))?.userId
  if (userId === undefined) throw new Failure('conflict', 'Sign in first')
  return userId
}
