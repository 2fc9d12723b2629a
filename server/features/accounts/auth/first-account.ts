// Rules for the first account of an installation. It owns the first workspace, so it must be the operator's: a request
// has the token that the start prints, or comes from this machine without a proxy (docs/contract.md §16).

import { createHmac, timingSafeEqual } from 'node:crypto'
import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { DEMO_EMAIL } from './demo-email.ts'

/**
 * `empty`: there is no account and no workspace, so there is no key either. `operatorOnly`: the operator works with
 * workspaces and keys, and makes accounts on the command line. `made`: an account exists.
 */
export type FirstAccountState = 'empty' | 'operatorOnly' | 'made'

/** The demo account and its workspace do not count. */
export async function readFirstAccountState(connection: Connection): Promise<FirstAccountState> {
  const users = connection.selectFrom('users').select('id').where('email', '!=', DEMO_EMAIL)
  if (await users.limit(1).executeTakeFirst()) return 'made'
  const workspace = await connection
    .selectFrom('workspaces')
    .select('workspaces.id')
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('members')
            .innerJoin('users', 'users.id', 'members.user_id')
            .select('users.id')
            .whereRef('members.workspace_id', '=', 'workspaces.id')
            .where('users.email', '=', DEMO_EMAIL),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst()
  return workspace ? 'operatorOnly' : 'empty'
}

export async function hasDemoAccount(connection: Connection): Promise<boolean> {
  const users = connection.selectFrom('users').select('id').where('email', '=', DEMO_EMAIL)
  return (await users.executeTakeFirst()) !== undefined
}

export const setupRequired = () =>
  new Failure(
    'forbidden',
    'The operator makes the first account, at the address with the token that the server prints when it starts',
  )

export const operatorRequired = () =>
  new Failure(
    'forbidden',
    'The operator makes the first account on the command line: npx towpath user create <email>',
  )

/** The token is the same after a restart. It loses its effect once the installation is not empty. */
const createSetupToken = (secret: string) =>
  createHmac('sha256', secret).update('towpath setup token 1').digest('base64url')

export const toSetupUrl = ({ origin, secret }: { origin: string; secret: string }) =>
  `${origin}/app/setup?token=${createSetupToken(secret)}`

export function isSetupToken(secret: string, token: string): boolean {
  // Hashes have the same length, so the comparison reveals nothing.
  const [right, given] = [createSetupToken(secret), token].map((text) =>
    createHmac('sha256', secret).update(text).digest(),
  ) as [Buffer, Buffer]
  return timingSafeEqual(right, given)
}
