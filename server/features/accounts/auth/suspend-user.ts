// Suspends a person: their sessions end and they cannot sign in. Their workspaces, with links and keys, go on. Only the
// operator can do this.

import { notFound } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { refuseSuspended } from '../access/suspension.ts'
import type { AuditAction } from '../audit/actions.ts'
import { recordAccountAudit } from '../audit/record-audit.ts'
import { endSessionsIn } from './sessions.ts'

interface SuspensionNeeds {
  db: Database
  now: () => number
}

export interface SuspendedUser {
  id: number
  email: string
  suspended: boolean
  reason: string | null
}

/** @returns also how many sessions were ended. @throws Failure `not_found` */
export function suspendUser(
  { db, now }: SuspensionNeeds,
  email: string,
  reason: string | null,
): Promise<SuspendedUser & { sessionsEnded: number }> {
  return db.write(async (connection) => {
    const at = now()
    const user = await setSuspension(connection, email, { suspended_at: at, suspended_reason: reason })
    await recordOperator(connection, user, 'account_suspended', at)
    return { ...user, sessionsEnded: await endSessionsIn(connection, user.id) }
  })
}

/** @throws Failure `not_found` */
export const restoreUser = ({ db, now }: SuspensionNeeds, email: string): Promise<SuspendedUser> =>
  db.write(async (connection) => {
    const user = await setSuspension(connection, email, { suspended_at: null, suspended_reason: null })
    await recordOperator(connection, user, 'account_restored', now())
    return user
  })

function recordOperator(
  connection: Connection,
  { id, email }: SuspendedUser,
  action: AuditAction,
  at: number,
): Promise<void> {
  const target = { type: 'member', id, name: email } as const
  return recordAccountAudit(connection, id, { action, target }, at, 'operator')
}

async function setSuspension(
  connection: Connection,
  email: string,
  columns: { suspended_at: number | null; suspended_reason: string | null },
): Promise<SuspendedUser> {
  const user = await connection
    .updateTable('users')
    .set(columns)
    .where('email', '=', email)
    .returning(['id', 'email'])
    .executeTakeFirst()
  if (!user) throw notFound('User')
  return { ...user, suspended: columns.suspended_at !== null, reason: columns.suspended_reason }
}

/** Checked for every new session, whatever the proof of identity. @throws Failure `forbidden` */
export async function refuseSuspendedUser(connection: Connection, userId: number): Promise<void> {
  const user = await connection
    .selectFrom('users')
    .select(['suspended_at', 'suspended_reason'])
    .where('id', '=', userId)
    .executeTakeFirst()
  if (user) refuseSuspended('account', user)
}
