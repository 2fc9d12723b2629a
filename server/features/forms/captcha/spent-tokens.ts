// Tokens that were used up, so that each works once: whichever of two submissions commits its row first has it.

import { createHash } from 'node:crypto'
import type { Connection, Database } from '../../../storage/database/open-database.ts'

// A token that was good when it was checked may wait for its transaction, and clocks of two machines differ.
const KEPT_AFTER_EXPIRY_MS = 10 * 60_000

/**
 * To be called within the submission's transaction, which is rolled back where the answer is no.
 * @param token whatever is the same for every copy of it; only its hash is stored
 * @returns whether it was unspent
 */
export async function spendToken(connection: Connection, token: string, expiresAt: number): Promise<boolean> {
  const spent = await connection
    .insertInto('captcha_tokens')
    .values({ token: createHash('sha256').update(token).digest('base64url'), expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('token').doNothing())
    .returning('token')
    .executeTakeFirst()
  return spent !== undefined
}

/** Those that expired are refused for that already. */
export async function pruneSpentTokens(db: Database, now: number): Promise<void> {
  await db.write((connection) =>
    connection
      .deleteFrom('captcha_tokens')
      .where('expires_at', '<', now - KEPT_AFTER_EXPIRY_MS)
      .execute(),
  )
}
