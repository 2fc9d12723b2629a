// Authenticator app (TOTP) of a user: set up, confirm with a first code, check a code at sign-in.

import { createTextSealer } from '../../../lib/crypto/sealing.ts'
import { createTotpSecret, findTotpStep, toTotpUri } from '../../../lib/crypto/totp.ts'
import { Failure, invalid } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'

export interface FactorNeeds {
  db: Database
  now: () => number
  origin: string
  /** `TOWPATH_SECRET` */
  secret: string
}

const toSealer = ({ secret }: FactorNeeds) => createTextSealer(secret, 'towpath authenticator apps 1')
const toOwner = (userId: number) => `user ${userId}`

export const wrongCode = () =>
  invalid({ code: 'is wrong or was used already: type the code that your app shows now' })

/**
 * Stores a new secret. It does not protect sign-in before `confirmAuthenticatorApp`. @returns the secret, and its
 * otpauth URI for a QR code. @throws Failure `conflict` when an app is set up already
 */
export async function startAuthenticatorApp(
  needs: FactorNeeds,
  { userId, email }: { userId: number; email: string },
): Promise<{ secret: string; uri: string }> {
  const secret = createTotpSecret()
  const row = { secret: toSealer(needs).seal(secret, toOwner(userId)), last_step: 0, created_at: needs.now() }
  const started = await needs.db.write((connection) =>
    connection
      .insertInto('totp_secrets')
      .values({ user_id: userId, ...row, confirmed_at: null })
      .onConflict((conflict) =>
        conflict.column('user_id').doUpdateSet(row).where('totp_secrets.confirmed_at', 'is', null),
      )
      .returning('user_id')
      .executeTakeFirst(),
  )
  if (!started) throw new Failure('conflict', 'An authenticator app is set up already: remove it first')
  return { secret, uri: toTotpUri(secret, `Towpath (${new URL(needs.origin).host})`, email) }
}

/** @throws Failure `invalid` for a wrong code, `conflict` when there is nothing to confirm */
export async function confirmAuthenticatorApp(
  needs: FactorNeeds,
  userId: number,
  code: string,
): Promise<void> {
  const app = await findApp(needs, userId)
  if (!app || app.confirmed) throw new Failure('conflict', 'Start again: there is no app to confirm')
  const step = findTotpStep(app.secret, code, needs.now())
  if (step === undefined) throw wrongCode()
  await needs.db.write((connection) =>
    connection
      .updateTable('totp_secrets')
      .set({ confirmed_at: needs.now(), last_step: step })
      .where('user_id', '=', userId)
      .where('confirmed_at', 'is', null)
      .execute(),
  )
}

/** Accepts a code once: of two requests with the same code, one is refused. @throws Failure `invalid` */
export async function useAppCode(needs: FactorNeeds, userId: number, code: string): Promise<void> {
  const app = await findApp(needs, userId)
  const step = app?.confirmed ? findTotpStep(app.secret, code, needs.now()) : undefined
  if (step === undefined) throw wrongCode()
  const used = await needs.db.write((connection) =>
    connection
      .updateTable('totp_secrets')
      .set({ last_step: step })
      .where('user_id', '=', userId)
      .where('last_step', '<', step)
      .returning('user_id')
      .executeTakeFirst(),
  )
  if (!used) throw wrongCode()
}

async function findApp(needs: FactorNeeds, userId: number) {
  const row = await needs.db.read
    .selectFrom('totp_secrets')
    .select(['secret', 'confirmed_at'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const secret = row && toSealer(needs).open(row.secret, toOwner(userId))
  return secret === undefined ? undefined : { secret, confirmed: row?.confirmed_at !== null }
}
