// Facts about the server for the sign-in and sign-up pages.

import type { Database } from '../../../storage/database/open-database.ts'
import { hasDemoAccount, readFirstAccountState } from './first-account.ts'
import { PASSWORD_MAX, PASSWORD_MIN, PASSWORD_MIN_WITH_SECOND_FACTOR } from './password.ts'
import type { SignUpNeeds } from './sign-up.ts'

export interface SignInOptions {
  /**
   * `first`: the installation is empty, and this caller may make the first account. `setup`: it is empty, and the
   * operator makes the first account. `operator`: nobody has an account, and only the command line makes one.
   */
  signup: 'first' | 'setup' | 'operator' | 'invite' | 'open'
  /** Somebody can sign in already, where nobody has an account of their own: as the demo account. */
  demo?: true
  oidc: { name: string } | null
  /** Whether the server can mail a link to reset a password. Without mail the operator makes the link. */
  mail: boolean
  /** How many characters a new password has. */
  password: { min: number; minWithSecondFactor: number; max: number }
}

interface OptionsNeeds {
  db: Database
  signup: SignUpNeeds['signup']
  oidc?: { name: string }
  sendMail?: unknown
}

/** @param mayFound whether the caller may make the first account (first-account.ts) */
export async function getSignInOptions(
  { db, signup, oidc, sendMail }: OptionsNeeds,
  mayFound: boolean,
): Promise<SignInOptions> {
  const state = await readFirstAccountState(db.read)
  const isDemo = state !== 'made' && (await hasDemoAccount(db.read))
  const whileEmpty = mayFound ? 'first' : 'setup'
  return {
    signup: state === 'empty' ? whileEmpty : state === 'operatorOnly' ? 'operator' : signup,
    ...(isDemo && { demo: true }),
    oidc: oidc ? { name: oidc.name } : null,
    mail: sendMail !== undefined,
    password: { min: PASSWORD_MIN, minWithSecondFactor: PASSWORD_MIN_WITH_SECOND_FACTOR, max: PASSWORD_MAX },
  }
}
