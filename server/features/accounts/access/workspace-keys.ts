// The API keys of a workspace: people list, create and revoke them on the page Settings > API Keys.

import { parseStoredScopes } from '../../../http/key-scope.ts'
import { invalid, notFound } from '../../../lib/failure.ts'
import { toIso, toIsoOrNull } from '../../../lib/iso-time.ts'
import type { Page } from '../../../lib/pagination.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { CreateKeyInput, KeyResource, NewKeyResource, PageQueryInput } from '../schema.ts'
import { type Actor, allow } from './actor.ts'
import { createKey, revokeKey } from './keys.ts'

const ORDER = { name: 'keys id desc', table: 'api_keys' }

interface Needs {
  db: Database
  now: () => number
}

const selectActiveKeys = (connection: Connection, workspaceId: number) =>
  connection
    .selectFrom('api_keys')
    .select(['id', 'name', 'last_four', 'scopes', 'expires_at', 'created_at', 'last_used_at'])
    .where('workspace_id', '=', workspaceId)
    .where('revoked_at', 'is', null)

const toKeyResource = (row: {
  id: number
  name: string
  last_four: string
  scopes: string
  expires_at: number | null
  created_at: number
  last_used_at: number | null
}): KeyResource => ({
  id: row.id,
  name: row.name,
  lastFour: row.last_four,
  scopes: parseStoredScopes(row.scopes),
  expiresAt: toIsoOrNull(row.expires_at),
  createdAt: toIso(row.created_at),
  lastUsedAt: toIsoOrNull(row.last_used_at),
})

/** @throws Failure `not_found`, for an unknown key, a revoked key and a key of another workspace alike */
async function getActiveKey(connection: Connection, workspaceId: number, id: number): Promise<KeyResource> {
  const row = await selectActiveKeys(connection, workspaceId).where('id', '=', id).executeTakeFirst()
  if (!row) throw notFound('API key')
  return toKeyResource(row)
}

/** @throws Failure `invalid` for a wrong cursor */
export async function listWorkspaceKeys(
  { db }: Pick<Needs, 'db'>,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: PageQueryInput,
): Promise<Page<KeyResource>> {
  const { rows, ...page } = await listNewest(selectActiveKeys(db.read, workspaceId), query, ORDER)
  return { data: rows.map(toKeyResource), ...page }
}

/** @returns the key itself; only its hash is stored. @throws Failure `forbidden`, `invalid`, `conflict` */
export function createWorkspaceKey(
  { db, now }: Needs,
  actor: Actor,
  { name, scopes, expiresAt: expiry = null }: CreateKeyInput,
): Promise<NewKeyResource> {
  allow(actor, 'keys:write')
  const expiresAt = expiry === null ? null : Date.parse(expiry)
  if (expiresAt !== null && expiresAt <= now()) throw invalid({ expiresAt: 'must be in the future' })
  return db.write(async (connection, onCommit) => {
    const inTransaction = { db: toNestedDatabase(db, connection, onCommit), now }
    const { id, key } = await createKey(inTransaction, actor.workspaceId, name, {
      scopes,
      expiresAt,
      createdBy: actor,
    })
    return { ...(await getActiveKey(connection, actor.workspaceId, id)), key }
  })
}

/** The next request with the key is refused. @returns the key as it was. @throws Failure `forbidden`, `not_found` */
export function revokeWorkspaceKey({ db, now }: Needs, actor: Actor, id: number): Promise<KeyResource> {
  allow(actor, 'keys:write')
  return db.write(async (connection, onCommit) => {
    const key = await getActiveKey(connection, actor.workspaceId, id)
    await revokeKey({ db: toNestedDatabase(db, connection, onCommit), now }, id, actor)
    return key
  })
}
