// What the pages for signing in and up must know before anybody has.

import type { Database } from '../../../storage/database/open-database.ts'
import { isFirstSignUp, type SignUpNeeds } from './sign-up.ts'

export interface SignInOptions {
  /** `first`: nobody has an account yet, and whoever makes one owns what they make. */
  signup: 'first' | 'invite' | 'open'
  oidc: { name: string } | null
  /** Whether a forgotten password can be helped by mail; else the operator helps. */
  mail: boolean
}

export async function getSignInOptions({
  db,
  signup,
  oidc,
  sendMail,
}: {
  db: Database
  signup: SignUpNeeds['signup']
  oidc?: { name: string }
  sendMail?: unknown
}): Promise<SignInOptions> {
  return {
    signup: (await isFirstSignUp(db.read)) ? 'first' : signup,
    oidc: oidc ? { name: oidc.name } : null,
    mail: sendMail !== undefined,
  }
}
