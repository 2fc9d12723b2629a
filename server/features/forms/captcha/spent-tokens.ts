// The captcha tokens that were used, so that each works once. If two submissions have one token, the first commit wins.

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'

// A token that was valid when it was checked may wait for its transaction, and the clocks of two machines differ.
const KEPT_AFTER_EXPIRY_MS = 10 * 60_000

/**
 * Call it within the submission's transaction, and roll the transaction back where it returns false.
 * @param token a text that is the same for every copy of the token; only its hash is stored
 * @returns false where another submission had used the token
 */
export async function spendToken(connection: Connection, token: string, expiresAt: number): Promise<boolean> {
  const inserted = await connection
    .insertInto('captcha_tokens')
    .values({ token: createHash('sha256').update(token).digest('base64url'), expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('token').doNothing())
    .returning('token')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Deletes expired tokens: their expiry refuses them already. */
export async function pruneSpentTokens(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'captcha_tokens', sql`expires_at < ${now - KEPT_AFTER_EXPIRY_MS}`)
}
