// API keys: made, revoked, and looked up on every request. Never cached, so that a revocation binds on the next one.

import { timingSafeEqual } from 'node:crypto'
import { notFound } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from './actor.ts'
import { generateApiKey, hashApiKey, isApiKey } from './api-key.ts'

/** `last_used_at` is for people: once a minute is precise enough, and keeps reads from becoming writes. */
const USED_EVERY_MS = 60_000

/** @returns the key itself, for the only time. @throws `not_found` */
export async function createKey(
  { db, now }: { db: Database; now: () => number },
  workspaceId: number,
  name: string,
): Promise<{ id: number; key: string }> {
  const key = generateApiKey()
  const id = await db.write(async (connection) => {
    const workspace = await connection
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', workspaceId)
      .executeTakeFirst()
    if (!workspace) throw notFound('Workspace')
    const row = await connection
      .insertInto('api_keys')
      .values({
        workspace_id: workspaceId,
        name,
        hash: hashApiKey(key),
        last_four: key.slice(-4),
        created_at: now(),
        last_used_at: null,
        revoked_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return row.id
  })
  return { id, key }
}

/** Oldest first, revoked ones too. @throws `not_found` */
export async function listKeys(
  { db }: { db: Database },
  workspaceId: number,
): Promise<{ id: number; name: string; lastFour: string; revoked: boolean }[]> {
  const workspace = await db.read
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  if (!workspace) throw notFound('Workspace')
  const keys = await db.read
    .selectFrom('api_keys')
    .select(['id', 'name', 'last_four as lastFour', 'revoked_at'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute()
  return keys.map(({ revoked_at, ...key }) => ({ ...key, revoked: revoked_at !== null }))
}

/** Revoking twice is no error. @throws `not_found` */
export async function revokeKey({ db, now }: { db: Database; now: () => number }, id: number): Promise<void> {
  await db.write(async (connection) => {
    const row = await connection
      .selectFrom('api_keys')
      .select(['id', 'revoked_at'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!row) throw notFound('API key')
    if (row.revoked_at === null) {
      await connection.updateTable('api_keys').set({ revoked_at: now() }).where('id', '=', id).execute()
    }
  })
}

/** @returns undefined for a key that is malformed, unknown or revoked: the caller must not tell which. */
export async function findKeyActor(
  { db, now }: { db: Database; now: () => number },
  key: string,
): Promise<Actor | undefined> {
  if (!isApiKey(key)) return undefined
  const hash = hashApiKey(key)
  const row = await db.read
    .selectFrom('api_keys')
    .innerJoin('workspaces', 'workspaces.id', 'api_keys.workspace_id')
    .select([
      'api_keys.id',
      'api_keys.hash',
      'api_keys.last_used_at',
      'workspaces.id as workspace_id',
      'workspaces.plan',
    ])
    .where('api_keys.hash', '=', hash)
    .where('api_keys.revoked_at', 'is', null)
    .executeTakeFirst()
  if (!row || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined
  if (now() - (row.last_used_at ?? 0) > USED_EVERY_MS) recordUse(db, row.id, now())
  return { kind: 'key', workspaceId: row.workspace_id, plan: row.plan as Plan, keyId: row.id }
}

/** Not waited for: a full disk must not turn questions into failures for the sake of a date. */
function recordUse(db: Database, id: number, at: number): void {
  db.write((connection) =>
    connection
      .updateTable('api_keys')
      .set({ last_used_at: at })
      .where('id', '=', id)
      .where((e) => e.or([e('last_used_at', 'is', null), e('last_used_at', '<', at - USED_EVERY_MS)]))
      .execute(),
  ).catch((error) => log.warn('key_use_not_noted', { keyId: id, ...describeError(error) }))
}
