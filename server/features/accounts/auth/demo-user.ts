// Creates the demo account on a server where nobody has signed up. The demo account does not count as the first
// sign-up.

import { randomFrom } from '../../../lib/crypto/random.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { createUser } from '../workspaces/create-user.ts'
import { DEMO_EMAIL } from './demo-email.ts'
import { createResetLink, resetPassword } from './reset-password.ts'

/** Without letters that look like digits: people read the password off a terminal. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

interface Needs {
  db: Database
  now: () => number
}

/** Creates the demo account, or sets a new password for the existing one. */
export async function ensureDemoUser(needs: Needs): Promise<{ id: number; password: string }> {
  const existing = await needs.db.read
    .selectFrom('users')
    .select('id')
    .where('email', '=', DEMO_EMAIL)
    .executeTakeFirst()
  const { id } = existing ?? (await createUser(needs, { email: DEMO_EMAIL, name: 'Demo' }))
  const password = randomFrom(ALPHABET, 20)
  const local = { ...needs, origin: 'http://localhost' }
  const link = new URL(await createResetLink(local, id))
  await resetPassword(local, link.searchParams.get('token') ?? '', password)
  return { id, password }
}
