// What the sign-in and sign-up pages need to know about the server.

import type { Database } from '../../../storage/database/open-database.ts'
import { isFirstSignUp, type SignUpNeeds } from './sign-up.ts'

export interface SignInOptions {
  /** `first`: nobody has an account yet, so the next person may sign up without an invitation. */
  signup: 'first' | 'invite' | 'open'
  oidc: { name: string } | null
  /** Whether the server can mail a link to reset a password. Without mail the operator makes the link. */
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
