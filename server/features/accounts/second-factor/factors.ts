// All second factors of a person together: the list, the side effects of adding the first one, and those of removing
// the last.

import type { Connection } from '../../../storage/database/open-database.ts'
import { hasSecondFactor } from '../access/second-factors.ts'
import { type AuditEntry, recordAccountAudit } from '../audit/record-audit.ts'
import { endSessionsIn } from '../auth/sessions.ts'
import type { FactorNeeds } from './authenticator-app.ts'
import { describePasskeys } from './passkeys.ts'
import { countRecoveryCodes, createRecoveryCodesIn } from './recovery-codes.ts'

/** The session of the person who changes their factors. It stays valid; all others end. */
export interface OwnSession {
  userId: number
  sessionId: number
}

/** The factors in the account settings, and the options to confirm a person's identity. */
export async function describeFactors(connection: Connection, userId: number) {
  const identities = await connection
    .selectFrom('identities')
    .select(['provider_id', 'password'])
    .where('user_id', '=', userId)
    .execute()
  return {
    authenticatorApp: await hasAuthenticatorApp(connection, userId),
    passkeys: await describePasskeys(connection, userId),
    recoveryCodes: await countRecoveryCodes(connection, userId),
    password: identities.some(({ password }) => password !== null),
    provider: identities.some(({ provider_id }) => provider_id !== 'credential'),
  }
}

async function hasAuthenticatorApp(connection: Connection, userId: number): Promise<boolean> {
  const row = await connection
    .selectFrom('totp_secrets')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

const toEntry = (change: 'added' | 'removed' | 'reset'): AuditEntry => ({
  action: 'second_factor_changed',
  detail: { change },
})

/**
 * After a factor was added: ends the other sessions, which began without it, and makes recovery codes when there are
 * none. @returns new recovery codes, or null
 */
export function completeFactor(
  needs: FactorNeeds,
  { userId, sessionId }: OwnSession,
): Promise<string[] | null> {
  return needs.db.write(async (connection) => {
    await endSessionsIn(connection, userId, { exceptId: sessionId })
    await recordAccountAudit(connection, userId, toEntry('added'), needs.now())
    if ((await countRecoveryCodes(connection, userId)) > 0) return null
    return createRecoveryCodesIn(connection, needs, userId)
  })
}

/** Ends the other sessions too. @param which a passkey, or the authenticator app @returns whether it was there */
export function removeFactor(
  { db, now }: Pick<FactorNeeds, 'db' | 'now'>,
  { userId, sessionId }: OwnSession,
  which: { passkeyId: number } | 'app',
): Promise<boolean> {
  return db.write(async (connection) => {
    const deletion =
      which === 'app'
        ? connection.deleteFrom('totp_secrets').where('user_id', '=', userId)
        : connection.deleteFrom('passkeys').where('user_id', '=', userId).where('id', '=', which.passkeyId)
    const { numDeletedRows } = await deletion.executeTakeFirst()
    if (Number(numDeletedRows) === 0) return false
    await endSessionsIn(connection, userId, { exceptId: sessionId })
    await recordAccountAudit(connection, userId, toEntry('removed'), now())
    // Recovery codes replace another factor. Without such a factor they have no effect.
    if (!(await hasSecondFactor(connection, userId))) await deleteRecoveryCodes(connection, userId)
    return true
  })
}

const deleteRecoveryCodes = (connection: Connection, userId: number) =>
  connection.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()

/** Removes every factor and ends all sessions: the operator's way out for a person who has lost theirs. */
export function resetSecondFactor(
  { db, now }: Pick<FactorNeeds, 'db' | 'now'>,
  userId: number,
): Promise<boolean> {
  return db.write(async (connection) => {
    const had = await hasSecondFactor(connection, userId)
    await connection.deleteFrom('totp_secrets').where('user_id', '=', userId).execute()
    await connection.deleteFrom('passkeys').where('user_id', '=', userId).execute()
    await deleteRecoveryCodes(connection, userId)
    await endSessionsIn(connection, userId)
    if (had) await recordAccountAudit(connection, userId, toEntry('reset'), now(), 'operator')
    return had
  })
}
