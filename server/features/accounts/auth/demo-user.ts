// The account that shows the demonstration where nobody has signed up yet. It is nobody's, so that whoever signs up
// after it is still the first.

import { randomFrom } from '../../../lib/random.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { createUser } from '../workspaces/add-member.ts'
import { DEMO_EMAIL } from './demo-email.ts'
import { createResetLink, resetPassword } from './reset-password.ts'

/** No letters that are taken for digits: it is read off a terminal. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

interface Needs {
  db: Database
  now: () => number
}

/** Makes it, or gives the one there is a new password. */
export async function ensureDemoUser(needs: Needs): Promise<{ id: number; password: string }> {
  const known = await needs.db.read
    .selectFrom('users')
    .select('id')
    .where('email', '=', DEMO_EMAIL)
    .executeTakeFirst()
  const { id } = known ?? (await createUser(needs, { email: DEMO_EMAIL, name: 'Demo' }))
  const password = randomFrom(ALPHABET, 20)
  const link = new URL(await createResetLink({ ...needs, origin: 'http://localhost' }, id))
  await resetPassword(needs, link.searchParams.get('token') ?? '', password)
  return { id, password }
}
