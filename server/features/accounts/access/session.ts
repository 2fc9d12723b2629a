// Finds the session of a request by its cookie. The database has the hash of the session token.

import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Role } from '../../../lib/role.ts'
import { percentDecode } from '../../../lib/text.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { UserActor } from './actor.ts'
import { refuseSuspended } from './suspension.ts'

const HOUR_MS = 60 * 60 * 1000
/** A session ends after this time without a request. */
export const SESSION_IDLE_MS = 14 * DAY_MS
/** A session ends this long after the sign-in in any case. The cookie has the same age. */
export const SESSION_MAX_MS = 60 * DAY_MS
/** The end of a session moves on at most once an hour, so that most requests write nothing. */
const EXTEND_EVERY_MS = HOUR_MS

export interface Session {
  id: number
  createdAt: number
  expiresAt: number
  user: Person
}

export interface Person {
  userId: number
  email: string
  name: string
  emailVerified: boolean
  /** The language of the dashboard, such as `de`; null: the browser's. */
  language: string | null
  createdAt: number
}

export interface SessionNeeds {
  db: Database
  now: () => number
}

/**
 * The prefix `__Host-` (RFC 6265bis §4.1.3.2): browsers send the cookie over https only, and no other host can set it.
 */
export const toSessionCookieName = (origin: string) =>
  origin.startsWith('https:') ? '__Host-towpath_session' : 'towpath_session'

// Better Auth makes the value: 32 base62 characters, a dot and a signature. Nothing checks the signature, because only
// the look-up of the token decides.
const TOKEN = /^([A-Za-z0-9]{32})\.[^.]+$/

/** @returns the token in a Cookie header; '' when the cookie has no valid token; undefined without the cookie */
export function readSessionToken(cookies: string | null | undefined, name: string): string | undefined {
  for (const part of cookies?.split(';') ?? []) {
    const equals = part.indexOf('=')
    if (part.slice(0, equals).trim() !== name) continue
    return TOKEN.exec(percentDecode(part.slice(equals + 1).trim()))?.[1] ?? ''
  }
  return undefined
}

/** @returns undefined when the session has ended, and for an unknown token */
export async function findSession({ db, now }: SessionNeeds, token: string): Promise<Session | undefined> {
  if (token === '') return undefined
  const at = now()
  const row = await db.read
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select([
      'sessions.id',
      'sessions.created_at',
      'sessions.expires_at',
      'sessions.updated_at',
      'users.id as user_id',
      'users.email',
      'users.name',
      'users.email_verified',
      'users.language',
      'users.created_at as user_created_at',
    ])
    .where('sessions.token', '=', sha256Hex(token))
    .where('sessions.expires_at', '>', at)
    .where('users.suspended_at', 'is', null)
    .where('sessions.created_at', '>', at - SESSION_MAX_MS)
    .where('sessions.awaits_second_factor', '=', 0)
    .executeTakeFirst()
  if (!row) return undefined
  if (at - row.updated_at > EXTEND_EVERY_MS) extendSession(db, row.id, row.created_at, at)
  return {
    id: row.id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    user: {
      userId: row.user_id,
      email: row.email,
      name: row.name,
      emailVerified: row.email_verified === 1,
      language: row.language,
      createdAt: row.user_created_at,
    },
  }
}

/** The request does not wait for this write, so a full disk does not sign people out. */
function extendSession(db: Database, id: number, createdAt: number, at: number): void {
  db.write((connection) =>
    connection
      .updateTable('sessions')
      .set({ expires_at: Math.min(at + SESSION_IDLE_MS, createdAt + SESSION_MAX_MS), updated_at: at })
      .where('id', '=', id)
      .where('updated_at', '<', at)
      .execute(),
  ).catch((error) => log.warn('session_not_extended', describeError(error)))
}

const selectMember = prepareQuery(
  (connection, { userId, workspaceId }: { userId: number; workspaceId: number }) =>
    connection
      .selectFrom('members')
      .innerJoin('workspaces', 'workspaces.id', 'members.workspace_id')
      .select(['members.role', 'workspaces.plan', 'workspaces.suspended_at', 'workspaces.suspended_reason'])
      .where('members.workspace_id', '=', workspaceId)
      .where('members.user_id', '=', userId),
)

/**
 * @returns undefined when the person is not a member, and for an unknown workspace
 * @throws Failure `forbidden` for a suspended workspace
 */
export async function findUserActor(
  { db }: { db: Database },
  userId: number,
  workspaceId: number,
): Promise<UserActor | undefined> {
  const [row] = await selectMember(db.read, { userId, workspaceId })
  if (row) refuseSuspended('workspace', row)
  return (
    row && { kind: 'user', workspaceId, plan: row.plan as Plan, keyId: null, userId, role: row.role as Role }
  )
}
