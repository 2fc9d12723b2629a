// The list and the end of sessions: a person ends their own ones, and a job deletes the expired ones.

import { sql } from 'kysely'
import { describeBrowser } from '../../../lib/browser-name.ts'
import { toIso } from '../../../lib/iso-time.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'
import { SESSION_MAX_MS, type Session, type SessionNeeds } from '../access/session.ts'
import type { AuditAction } from '../audit/actions.ts'
import { recordAccountAudit } from '../audit/record-audit.ts'

/** How long the session before a confirmation stays valid, for requests that were already sent with its cookie. */
const REPLACED_SESSION_MS = 30_000

/** Lets a session end soon, because a new one has replaced it. */
export function replaceSession({ db, now }: SessionNeeds, id: number): Promise<unknown> {
  return db.write((connection) =>
    connection
      .updateTable('sessions')
      // Sets `updated_at` too, so that a request with this session does not extend it.
      .set({ expires_at: now() + REPLACED_SESSION_MS, updated_at: now() })
      .where('id', '=', id)
      .execute(),
  )
}

/** The person's own sessions, last used first. */
export async function listSessions({ db, now }: SessionNeeds, own: Session) {
  const at = now()
  const rows = await db.read
    .selectFrom('sessions')
    .select(['id', 'user_agent', 'created_at', 'updated_at', 'expires_at'])
    .where('user_id', '=', own.user.userId)
    .where('awaits_second_factor', '=', 0)
    // A session that a confirmation has replaced lives on for requests on their way. It is not shown.
    .where('expires_at', '>', at + REPLACED_SESSION_MS)
    .where('created_at', '>', at - SESSION_MAX_MS)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(100)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    current: row.id === own.id,
    browser: describeBrowser(row.user_agent),
    createdAt: toIso(row.created_at),
    lastUsedAt: toIso(row.updated_at),
    expiresAt: toIso(row.expires_at),
  }))
}

/** Ends one session of a person, all but one, or all. @param action for the audit log @returns how many were ended */
export function endSessions(
  { db, now }: SessionNeeds,
  userId: number,
  which: { id?: number; exceptId?: number } = {},
  action?: AuditAction,
): Promise<number> {
  return db.write(async (connection) => {
    const ended = await endSessionsIn(connection, userId, which)
    if (action && ended > 0) await recordAccountAudit(connection, userId, { action }, now())
    return ended
  })
}

/** Does the same inside an open transaction. */
export async function endSessionsIn(
  connection: Connection,
  userId: number,
  { id, exceptId }: { id?: number; exceptId?: number } = {},
): Promise<number> {
  let deletion = connection.deleteFrom('sessions').where('user_id', '=', userId)
  if (id !== undefined) deletion = deletion.where('id', '=', id)
  if (exceptId !== undefined) deletion = deletion.where('id', '!=', exceptId)
  const { numDeletedRows } = await deletion.executeTakeFirst()
  return Number(numDeletedRows)
}

/** Deletes expired sessions, and expired verifications: password resets and sign-ins at an identity provider. */
export async function pruneSessions(db: Database, now: number): Promise<void> {
  await pruneInSlices(db, 'sessions', sql`expires_at <= ${now}`)
  await pruneInSlices(db, 'sessions', sql`created_at <= ${now - SESSION_MAX_MS}`)
  await pruneInSlices(db, 'verifications', sql`expires_at <= ${now}`)
}
