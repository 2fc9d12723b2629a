// Sessions of people who have signed in: found on every request by the hash of what their cookie holds, and ended.

import { createHash } from 'node:crypto'
import { describeError, log } from '../../../lib/log.ts'
import type { Plan } from '../../../lib/plan.ts'
import { percentDecode } from '../../../lib/text.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Role, UserActor } from './actor.ts'

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR
/** A session ends when it was not used for so long … */
export const SESSION_IDLE_MS = 14 * DAY
/** … and in any case after this: the cookie's own age. */
export const SESSION_MAX_MS = 60 * DAY
/** Its end is moved on once an hour at most, which keeps reads from becoming writes. */
const EXTEND_EVERY_MS = HOUR

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
  createdAt: number
}

export interface SessionNeeds {
  db: Database
  now: () => number
}

/** `__Host-`: sent over https only, and no other host of the domain can have set it. */
export const toSessionCookieName = (origin: string) =>
  origin.startsWith('https:') ? '__Host-towpath_session' : 'towpath_session'

/** A fast hash is right for 190 random bits; who reads the database cannot sign in with what they find. */
export const hashSessionToken = (token: string) => createHash('sha256').update(token).digest('hex')

// What Better Auth makes: 32 of base 62, and a signature that says nothing more than the look-up does.
const TOKEN = /^([A-Za-z0-9]{32})\.[^.]+$/

/** The session's token in a Cookie header; '' for a cookie that holds none; undefined without the cookie. */
export function readSessionToken(cookies: string | null | undefined, name: string): string | undefined {
  for (const part of cookies?.split(';') ?? []) {
    const at = part.indexOf('=')
    if (part.slice(0, at).trim() !== name) continue
    return TOKEN.exec(percentDecode(part.slice(at + 1).trim()))?.[1] ?? ''
  }
  return undefined
}

/** @returns undefined for a session that has ended, or never was */
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
      'users.created_at as user_created_at',
    ])
    .where('sessions.token', '=', hashSessionToken(token))
    .where('sessions.expires_at', '>', at)
    .where('sessions.created_at', '>', at - SESSION_MAX_MS)
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
      createdAt: row.user_created_at,
    },
  }
}

/** Not waited for: a full disk must not sign people out. */
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

/** What somebody may do in a workspace; undefined for those who are not in it, and for one that is not there. */
export async function findUserActor(
  { db }: { db: Database },
  userId: number,
  workspaceId: number,
): Promise<UserActor | undefined> {
  const row = await db.read
    .selectFrom('members')
    .innerJoin('workspaces', 'workspaces.id', 'members.workspace_id')
    .select(['members.role', 'workspaces.plan'])
    .where('members.workspace_id', '=', workspaceId)
    .where('members.user_id', '=', userId)
    .executeTakeFirst()
  return (
    row && { kind: 'user', workspaceId, plan: row.plan as Plan, keyId: null, userId, role: row.role as Role }
  )
}

/** One's own, newest use first. */
export async function listSessions({ db, now }: SessionNeeds, own: Session) {
  const at = now()
  const found = await db.read
    .selectFrom('sessions')
    .select(['id', 'user_agent', 'created_at', 'updated_at', 'expires_at'])
    .where('user_id', '=', own.user.userId)
    .where('expires_at', '>', at)
    .where('created_at', '>', at - SESSION_MAX_MS)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(100)
    .execute()
  return found.map((row) => ({
    id: row.id,
    current: row.id === own.id,
    userAgent: row.user_agent,
    createdAt: new Date(row.created_at).toISOString(),
    lastUsedAt: new Date(row.updated_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
  }))
}

/** Ends sessions of one person: one of them, all but one, or all. @returns how many there were */
export function endSessions(
  { db }: { db: Database },
  userId: number,
  which: { id?: number; exceptId?: number } = {},
): Promise<number> {
  return db.write((connection) => endSessionsIn(connection, userId, which))
}

export async function endSessionsIn(
  connection: Connection,
  userId: number,
  { id, exceptId }: { id?: number; exceptId?: number } = {},
): Promise<number> {
  let ending = connection.deleteFrom('sessions').where('user_id', '=', userId)
  if (id !== undefined) ending = ending.where('id', '=', id)
  if (exceptId !== undefined) ending = ending.where('id', '!=', exceptId)
  const { numDeletedRows } = await ending.executeTakeFirst()
  return Number(numDeletedRows)
}

/** What is over is forgotten: sessions, links to reset a password, sign-ins elsewhere that nobody came back from. */
export async function pruneSessions(db: Database, now: number): Promise<void> {
  await db.write(async (connection) => {
    await connection
      .deleteFrom('sessions')
      .where((e) => e.or([e('expires_at', '<=', now), e('created_at', '<=', now - SESSION_MAX_MS)]))
      .execute()
    await connection.deleteFrom('verifications').where('expires_at', '<=', now).execute()
  })
}
