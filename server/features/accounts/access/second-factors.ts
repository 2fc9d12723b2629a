// Looks up whether a person has a second factor, and whether a workspace requires one. The verbs are in second-factor/.

import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'

/** A confirmed authenticator app, or a passkey. Recovery codes alone are none. */
export async function hasSecondFactor(connection: Connection, userId: number): Promise<boolean> {
  const { totp, passkey } = await connection
    .selectNoFrom((e) => [
      e
        .exists(
          e
            .selectFrom('totp_secrets')
            .select('user_id')
            .where('user_id', '=', userId)
            .where('confirmed_at', 'is not', null),
        )
        .as('totp'),
      e.exists(e.selectFrom('passkeys').select('id').where('user_id', '=', userId)).as('passkey'),
    ])
    .executeTakeFirstOrThrow()
  return Boolean(totp) || Boolean(passkey)
}

/** @throws Failure `second_factor_required`, with the person's next step */
export async function requireSecondFactor(
  connection: Connection,
  { userId, workspaceId }: { userId: number; workspaceId: number },
): Promise<void> {
  const workspace = await connection
    .selectFrom('workspaces')
    .select('require_two_factor')
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  if (workspace?.require_two_factor !== 1 || (await hasSecondFactor(connection, userId))) return
  throw new Failure(
    'second_factor_required',
    'This workspace requires two-factor sign-in: set up an authenticator app or a passkey in your account settings',
  )
}
