// What the pages for signing in and up must know before anybody has.

import type { Rows } from '../../storage/rows/open.ts'
import { isFirst, type SignUpNeeds } from './sign-up.ts'

export interface SignInOptions {
  /** `first`: nobody has an account yet, and whoever makes one owns what they make. */
  signup: 'first' | 'invite' | 'open'
  oidc: { name: string } | null
  /** Whether a forgotten password can be helped by mail; else the operator helps. */
  mail: boolean
}

export async function signInOptions({
  rows,
  signup,
  oidc,
  sendMail,
}: {
  rows: Rows
  signup: SignUpNeeds['signup']
  oidc?: { name: string }
  sendMail?: unknown
}): Promise<SignInOptions> {
  return {
    signup: (await isFirst(rows.read)) ? 'first' : signup,
    oidc: oidc ? { name: oidc.name } : null,
    mail: sendMail !== undefined,
  }
}
