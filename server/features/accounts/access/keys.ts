// API keys: create, list, revoke, and the look-up of every request. The look-up has no cache, so that a revoked key is
// refused on its next request (docs/contract.md §1).

import { timingSafeEqual } from 'node:crypto'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { notFound } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from './actor.ts'
import { generateApiKey, isApiKey } from './api-key.ts'
import { refuseSuspended } from './suspension.ts'

/** `last_used_at` is for people: one update a minute is precise enough, and most requests then write nothing. */
const USE_RECORDED_EVERY_MS = 60_000

/** @returns the key itself; only its hash is stored. @throws Failure `not_found` */
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
        hash: sha256Hex(key),
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

/** Lists all keys of a workspace, oldest first, revoked keys too. @throws Failure `not_found` */
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

/** A second call changes nothing. @throws Failure `not_found` */
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

/**
 * @returns undefined for a malformed, unknown or revoked key; the answer must not say which of these it is
 * @throws Failure `forbidden` for a key of a suspended workspace
 */
export async function findKeyActor(
  { db, now }: { db: Database; now: () => number },
  key: string,
): Promise<Actor | undefined> {
  if (!isApiKey(key)) return undefined
  const hash = sha256Hex(key)
  const row = await db.read
    .selectFrom('api_keys')
    .innerJoin('workspaces', 'workspaces.id', 'api_keys.workspace_id')
    .select([
      'api_keys.id',
      'api_keys.hash',
      'api_keys.last_used_at',
      'workspaces.id as workspace_id',
      'workspaces.plan',
      'workspaces.suspended_at',
      'workspaces.suspended_reason',
    ])
    .where('api_keys.hash', '=', hash)
    .where('api_keys.revoked_at', 'is', null)
    .executeTakeFirst()
  if (!row || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined
  refuseSuspended('workspace', row)
  if (now() - (row.last_used_at ?? 0) > USE_RECORDED_EVERY_MS) recordUse(db, row.id, now())
  return { kind: 'key', workspaceId: row.workspace_id, plan: row.plan as Plan, keyId: row.id }
}

/** The request does not wait for this: a full disk must not make reads fail. */
function recordUse(db: Database, id: number, at: number): void {
  db.write((connection) =>
    connection
      .updateTable('api_keys')
      .set({ last_used_at: at })
      .where('id', '=', id)
      .where((e) => e.or([e('last_used_at', 'is', null), e('last_used_at', '<', at - USE_RECORDED_EVERY_MS)]))
      .execute(),
  ).catch((error) => log.warn('key_use_not_noted', { keyId: id, ...describeError(error) }))
}
