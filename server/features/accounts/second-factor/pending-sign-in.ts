// Finds a sign-in that waits for its second factor: a session that gives access to nothing else.

import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import type { SessionNeeds } from '../access/session.ts'

/** @returns undefined when there is none, and when it took longer than ten minutes */
export async function findPendingSignIn({ db, now }: SessionNeeds, token: string | undefined) {
  if (!token) return undefined
  const row = await db.read
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['sessions.id', 'sessions.user_id', 'users.email'])
    .where('sessions.token', '=', sha256Hex(token))
    .where('sessions.awaits_second_factor', '=', 1)
    .where('sessions.expires_at', '>', now())
    .executeTakeFirst()
  return row && { sessionId: row.id, userId: row.user_id, email: row.email }
}
