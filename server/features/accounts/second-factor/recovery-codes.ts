// Recovery codes: ten codes, each of which replaces a lost second factor once.

import { createHmac, hkdfSync } from 'node:crypto'
import { randomFrom } from '../../../lib/crypto/random.ts'
import { invalid } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { FactorNeeds } from './authenticator-app.ts'

const CODES = 10
/** 50 random bits. */
const LENGTH = 10
/** Without letters that look like digits. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'

/** Replaces all codes of the person. @returns the new codes, which are shown only now */
export async function createRecoveryCodesIn(
  connection: Connection,
  needs: FactorNeeds,
  userId: number,
): Promise<string[]> {
  const codes = Array.from({ length: CODES }, () => randomFrom(ALPHABET, LENGTH))
  const created_at = needs.now()
  await connection.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await connection
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ user_id: userId, hash: hashCode(needs, userId, code), created_at })))
    .execute()
  return codes.map((code) => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`)
}

/** The same in a new transaction. */
export function replaceRecoveryCodes(needs: FactorNeeds, userId: number): Promise<string[]> {
  return needs.db.write((connection) => createRecoveryCodesIn(connection, needs, userId))
}

/** Deletes the code, so that it works once. @returns how many are left. @throws Failure `invalid` */
export async function useRecoveryCode(needs: FactorNeeds, userId: number, typed: string): Promise<number> {
  const code = typed.toLowerCase().replace(/[^0-9a-z]/g, '')
  const deleted = await needs.db.write((connection) =>
    connection
      .deleteFrom('recovery_codes')
      .where('user_id', '=', userId)
      .where('hash', '=', hashCode(needs, userId, code))
      .returning('id')
      .executeTakeFirst(),
  )
  if (!deleted) throw invalid({ recoveryCode: 'is not one of your codes, or was used already' })
  return countRecoveryCodes(needs.db.read, userId)
}

export async function countRecoveryCodes(connection: Connection, userId: number): Promise<number> {
  const { n } = await connection
    .selectFrom('recovery_codes')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return Number(n)
}

function hashCode({ secret }: FactorNeeds, userId: number, code: string): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'towpath recovery codes 1', 32))
  return createHmac('sha256', key).update(`${userId} ${code}`).digest('hex')
}
