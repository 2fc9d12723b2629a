// A person with an authenticator app, for tests: what the app shows, and how the person signs in with it.

import { type SignedUpUser, toCookieHeader, toSignedUpUser } from '../../../../tests/support/users/sign-up.ts'
import type { TestServer } from '../../../../tests/support/world.ts'
import { computeTotpCode, toTotpStep } from '../../../lib/crypto/totp.ts'

/** @returns the code of an authenticator app, `steps` of 30 s from now */
export const showCode = (secret: string, now: number, steps = 0) =>
  computeTotpCode(secret, toTotpStep(now) + steps)

export interface AppOwner {
  secret: string
  recoveryCodes: string[]
}

/** Sets up an authenticator app over HTTP. The code of the step before is used, so that the current one is free. */
export async function setUpApp(person: SignedUpUser, now: () => number): Promise<AppOwner> {
  const post = (path: string, body?: object) => person.postAuth(path, body)
  const { json } = await post('/second-factor/app')
  while (true) {
    const sentAt = now()
    const confirmed = await post('/second-factor/app/confirm', { code: showCode(json.secret, sentAt, -1) })
    if (confirmed.status === 200) return { secret: json.secret, recoveryCodes: confirmed.json.recoveryCodes }
    // The code is too old where the next step has begun on its way.
    if (toTotpStep(now()) === toTotpStep(sentAt))
      throw new Error(`the app was refused: ${confirmed.status} ${confirmed.text}`)
  }
}

/** Signs in with the password. @returns the person as a browser knows them then, and the answer */
export async function signInAgain(
  server: TestServer,
  { email, password, workspaceId }: SignedUpUser,
  headers: Record<string, string> = {},
) {
  const answer = await server.post('/api/auth/sign-in/email', { email, password }, headers)
  const person = toSignedUpUser(server, toCookieHeader(answer), { email, password, workspaceId })
  return { answer, person }
}
