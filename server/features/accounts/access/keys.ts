// API keys: create, list, revoke, and the look-up of every request. The look-up has no cache, so that a revoked key is
// refused on its next request (docs/contract.md §1).

import { timingSafeEqual } from 'node:crypto'
import { type KeyScope, parseStoredScopes, toStoredScopes } from '../../../http/key-scope.ts'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { notFound } from '../../../lib/failure.ts'
import { toIsoOrNull } from '../../../lib/iso-time.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import { type AuditActor, recordAudit } from '../audit/record-audit.ts'
import type { KeyActor } from './actor.ts'
import { generateApiKey, isApiKey } from './api-key.ts'
import { refuseSuspended } from './suspension.ts'
import { requireRoom } from './workspace-limits.ts'

/** `last_used_at` is for people: one update a minute is precise enough, and most requests then write nothing. */
const USE_RECORDED_EVERY_MS = 60_000

export interface KeyOptions {
  /** Full access when absent. */
  scopes?: readonly KeyScope[]
  /** Never when absent. */
  expiresAt?: number | null
  /** The operator when absent. */
  createdBy?: AuditActor
}

/** @returns the key itself; only its hash is stored. @throws Failure `not_found`, `conflict` */
export async function createKey(
  { db, now }: { db: Database; now: () => number },
  workspaceId: number,
  name: string,
  { scopes = ['*'], expiresAt = null, createdBy = { kind: 'operator', workspaceId } }: KeyOptions = {},
): Promise<{ id: number; key: string }> {
  const key = generateApiKey()
  const id = await db.write(async (connection) => {
    const workspace = await connection
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', workspaceId)
      .executeTakeFirst()
    if (!workspace) throw notFound('Workspace')
    const at = now()
    const row = await connection
      .insertInto('api_keys')
      .values({
        workspace_id: workspaceId,
        name,
        hash: sha256Hex(key),
        last_four: key.slice(-4),
        created_at: at,
        last_used_at: null,
        revoked_at: null,
        scopes: toStoredScopes(scopes),
        expires_at: expiresAt,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await requireRoom(connection, workspaceId, 'keys')
    await recordAudit(
      connection,
      createdBy,
      {
        action: 'key.created',
        target: { type: 'key', id: row.id, name },
        detail: { scopes, expiresAt: toIsoOrNull(expiresAt) },
      },
      at,
    )
    return row.id
  })
  return { id, key }
}

/** Lists all keys of a workspace, oldest first, revoked keys too. @throws Failure `not_found` */
export async function listKeys(
  { db }: { db: Database },
  workspaceId: number,
): Promise<
  {
    id: number
    name: string
    lastFour: string
    scopes: KeyScope[]
    expiresAt: string | null
    revoked: boolean
  }[]
> {
  const workspace = await db.read
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  if (!workspace) throw notFound('Workspace')
  const keys = await db.read
    .selectFrom('api_keys')
    .select(['id', 'name', 'last_four as lastFour', 'scopes', 'expires_at', 'revoked_at'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute()
  return keys.map(({ revoked_at, scopes, expires_at, ...key }) => ({
    ...key,
    scopes: parseStoredScopes(scopes),
    expiresAt: toIsoOrNull(expires_at),
    revoked: revoked_at !== null,
  }))
}

/** A second call changes nothing. @param revokedBy the operator when absent @throws Failure `not_found` */
export async function revokeKey(
  { db, now }: { db: Database; now: () => number },
  id: number,
  revokedBy?: AuditActor,
): Promise<void> {
  await db.write(async (connection) => {
    const row = await connection
      .selectFrom('api_keys')
      .select(['id', 'workspace_id', 'name', 'revoked_at'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!row) throw notFound('API key')
    if (row.revoked_at !== null) return
    const at = now()
    await connection.updateTable('api_keys').set({ revoked_at: at }).where('id', '=', id).execute()
    await recordAudit(
      connection,
      revokedBy ?? { kind: 'operator', workspaceId: row.workspace_id },
      { action: 'key.revoked', target: { type: 'key', id, name: row.name } },
      at,
    )
  })
}

const selectLiveKey = prepareQuery(selectKey)
function selectKey(connection: Connection, { hash, at }: { hash: string; at: number }) {
  return connection
    .selectFrom('api_keys')
    .innerJoin('workspaces', 'workspaces.id', 'api_keys.workspace_id')
    .select([
      'api_keys.id',
      'api_keys.hash',
      'api_keys.last_used_at',
      'api_keys.scopes',
      'workspaces.id as workspace_id',
      'workspaces.plan',
      'workspaces.suspended_at',
      'workspaces.suspended_reason',
    ])
    .where('api_keys.hash', '=', hash)
    .where('api_keys.revoked_at', 'is', null)
    .where((e) => e.or([e('api_keys.expires_at', 'is', null), e('api_keys.expires_at', '>', at)]))
}

/**
 * @returns undefined for a malformed, unknown, revoked or expired key; the answer must not reveal which
 * @throws Failure `forbidden` for a key of a suspended workspace
 */
export async function findKeyActor(
  { db, now }: { db: Database; now: () => number },
  key: string,
): Promise<KeyActor | undefined> {
  if (!isApiKey(key)) return undefined
  const at = now()
  const hash = sha256Hex(key)
  const [row] = await selectLiveKey(db.read, { hash, at })
  if (!row || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined
  refuseSuspended('workspace', row)
  if (at - (row.last_used_at ?? 0) > USE_RECORDED_EVERY_MS) recordUse(db, row.id, at)
  const { workspace_id: workspaceId, plan, id: keyId } = row
  return { kind: 'key', workspaceId, plan: plan as Plan, keyId, scopes: parseStoredScopes(row.scopes) }
}

/** The request does not wait for this write, so reads work on a full disk. */
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
