// Whose the demonstration is.

import { findUser } from '../features/accounts/add-member.ts'
import { DEMO_EMAIL } from '../features/accounts/demo-email.ts'
import { openDemoUser } from '../features/accounts/demo-user.ts'
import type { Rows } from '../storage/rows/open.ts'

export interface Owner {
  id: number
  email: string
  /** Only where we have just made it. */
  password?: string
}

interface Needs {
  rows: Rows
  now: () => number
}

/**
 * @param email whom it is for; else the only account there is, or one that is made for it
 * @throws a sentence for the operator where there are several
 */
export async function findOwner(needs: Needs, email: string | undefined): Promise<Owner> {
  if (email !== undefined) return findUser(needs.rows.read, email)
  const [first, second] = await needs.rows.read
    .selectFrom('users')
    .select(['id', 'email'])
    .where('email', '!=', DEMO_EMAIL)
    .orderBy('id')
    .limit(2)
    .execute()
  if (second) throw new Error('There are several accounts: say whose it is to be with --for <email>.')
  return first ?? { ...(await openDemoUser(needs)), email: DEMO_EMAIL }
}
