// Finds the user who will own the demo workspace.

import { DEMO_EMAIL } from '../../features/accounts/auth/demo-email.ts'
import { ensureDemoUser } from '../../features/accounts/auth/demo-user.ts'
import { getUser } from '../../features/accounts/workspaces/add-member.ts'
import type { Database } from '../../storage/database/open-database.ts'

export interface DemoOwner {
  id: number
  email: string
  /** Only for an account that the command has just created. */
  password?: string
}

interface Needs {
  db: Database
  now: () => number
}

/**
 * @param email of the owner. Without it, the owner is the only account, or a new one where there is none.
 * @throws an error for the operator where there are several accounts
 */
export async function findOwner(needs: Needs, email: string | undefined): Promise<DemoOwner> {
  if (email !== undefined) return getUser(needs.db.read, email)
  const [first, second] = await needs.db.read
    .selectFrom('users')
    .select(['id', 'email'])
    .where('email', '!=', DEMO_EMAIL)
    .orderBy('id')
    .limit(2)
    .execute()
  if (second) throw new Error('There are several accounts: say whose it is to be with --for <email>.')
  return first ?? { ...(await ensureDemoUser(needs)), email: DEMO_EMAIL }
}
