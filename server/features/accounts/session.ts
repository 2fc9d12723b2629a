// Sessions of people who have signed in: found on every request by the hash of what their cookie holds, and ended.

import { createHash } from 'node:crypto'
import { describeError, log } from '../../lib/log.ts'
import type { Plan } from '../../lib/plan.ts'
import { decoded } from '../../lib/text.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { Role, UserActor } from './actor.ts'

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR
/** A session ends when it was not used for so long … */
export const IDLE_MS = 14 * DAY
/** … and in any case after this: the cookie's own age. */
export const SESSION_MAX_MS = 60 * DAY
/** Its end is moved on once an hour at most, which keeps reads from becoming writes. */
const MOVED_EVERY_MS = HOUR

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
  rows: Rows
  now: () => number
}

/** `__Host-`: sent over https only, and no other host of the domain can have set it. */
export const sessionCookie = (origin: string) =>
  origin.startsWith('https:') ? '__Host-towpath_session' : 'towpath_session'

/** A fast hash is right for 190 random bits; who reads the database cannot sign in with what they find. */
export const hashSessionToken = (token: string) => createHash('sha256').update(token).digest('hex')

// What Better Auth makes: 32 of base 62, and a signature that says nothing more than the look-up does.
const TOKEN = /^([A-Za-z0-9]{32})\.[^.]+$/

/** The session's token in a Cookie header; '' for a cookie that holds none; undefined without the cookie. */
export function tokenIn(cookies: string | null | undefined, name: string): string | undefined {
  for (const part of cookies?.split(';') ?? []) {
    const at = part.indexOf('=')
    if (part.slice(0, at).trim() !== name) continue
    return TOKEN.exec(decoded(part.slice(at + 1).trim()))?.[1] ?? ''
  }
  return undefined
}

/** @returns undefined for a session that has ended, or never was */
export async function findSession({ rows, now }: SessionNeeds, token: string): Promise<Session | undefined> {
  if (token === '') return undefined
  const at = now()
  const row = await rows.read
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
  if (at - row.updated_at > MOVED_EVERY_MS) moveEnd(rows, row.id, row.created_at, at)
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
function moveEnd(rows: Rows, id: number, createdAt: number, at: number): void {
  rows
    .write((db) =>
      db
        .updateTable('sessions')
        .set({ expires_at: Math.min(at + IDLE_MS, createdAt + SESSION_MAX_MS), updated_at: at })
        .where('id', '=', id)
        .where('updated_at', '<', at)
        .execute(),
    )
    .catch((error) => log.warn('session_not_extended', describeError(error)))
}

/** What somebody may do in a workspace; undefined for those who are not in it, and for one that is not there. */
export async function findUserActor(
  { rows }: { rows: Rows },
  userId: number,
  workspaceId: number,
): Promise<UserActor | undefined> {
  const row = await rows.read
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
export async function listSessions({ rows, now }: SessionNeeds, own: Session) {
  const at = now()
  const found = await rows.read
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
  { rows }: { rows: Rows },
  userId: number,
  which: { id?: number; exceptId?: number } = {},
): Promise<number> {
  return rows.write((db) => endSessionsIn(db, userId, which))
}

export async function endSessionsIn(
  db: Db,
  userId: number,
  { id, exceptId }: { id?: number; exceptId?: number } = {},
): Promise<number> {
  let ending = db.deleteFrom('sessions').where('user_id', '=', userId)
  if (id !== undefined) ending = ending.where('id', '=', id)
  if (exceptId !== undefined) ending = ending.where('id', '!=', exceptId)
  const { numDeletedRows } = await ending.executeTakeFirst()
  return Number(numDeletedRows)
}

/** What is over is forgotten: sessions, links to reset a password, sign-ins elsewhere that nobody came back from. */
export async function forgetEndedSessions(rows: Rows, now: number): Promise<void> {
  await rows.write(async (db) => {
    await db
      .deleteFrom('sessions')
      .where((e) => e.or([e('expires_at', '<=', now), e('created_at', '<=', now - SESSION_MAX_MS)]))
      .execute()
    await db.deleteFrom('verifications').where('expires_at', '<=', now).execute()
  })
}
