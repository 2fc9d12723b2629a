// Settings > API Keys: the keys of a workspace, as its people list, make and revoke them.

import { notFound } from '../../lib/failure.ts'
import { iso, isoOrNull } from '../../lib/wire.ts'
import { type Db, type Rows, rowsWithin } from '../../storage/rows/open.ts'
import { type Actor, allow } from './actor.ts'
import { createKey, revokeKey } from './keys.ts'
import { type Page, pageOf, startOf } from './pages.ts'
import type { CreateKeyInput, KeyResource, NewKeyResource, PageQueryInput } from './schema.ts'

const ORDER = 'keys id desc'

interface Needs {
  rows: Rows
  now: () => number
}

const liveKeys = (db: Db, workspaceId: number) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'name', 'last_four', 'created_at', 'last_used_at'])
    .where('workspace_id', '=', workspaceId)
    .where('revoked_at', 'is', null)

const keyResource = (row: {
  id: number
  name: string
  last_four: string
  created_at: number
  last_used_at: number | null
}): KeyResource => ({
  id: row.id,
  name: row.name,
  lastFour: row.last_four,
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
})

/** @throws Failure `not_found`, the same for another workspace's key, a revoked one and none. */
async function findLiveKey(db: Db, workspaceId: number, id: number): Promise<KeyResource> {
  const row = await liveKeys(db, workspaceId).where('id', '=', id).executeTakeFirst()
  if (!row) throw notFound('API key')
  return keyResource(row)
}

/** @throws Failure `invalid` for a wrong cursor */
export async function listOwnKeys(
  { rows }: Pick<Needs, 'rows'>,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: PageQueryInput,
): Promise<Page<KeyResource>> {
  const { limit, after } = startOf(query, ORDER)
  let page = liveKeys(rows.read, workspaceId)
  if (after !== undefined) page = page.where('id', '<', after)
  const found = await page
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const total = await rows.read
    .selectFrom('api_keys')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspaceId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return pageOf(found, { limit, order: ORDER, total }, keyResource)
}

/** @returns the key itself, for the only time. @throws Failure `forbidden` */
export function createOwnKey(
  { rows, now }: Needs,
  actor: Actor,
  { name }: CreateKeyInput,
): Promise<NewKeyResource> {
  allow(actor, 'keys:write')
  return rows.write(async (db, onCommit) => {
    const within = { rows: rowsWithin(rows, db, onCommit), now }
    const { id, key } = await createKey(within, actor.workspaceId, name)
    return { ...(await findLiveKey(db, actor.workspaceId, id)), key }
  })
}

/** Its very next request is refused. @returns it as it was. @throws Failure `forbidden`, `not_found` */
export function revokeOwnKey({ rows, now }: Needs, actor: Actor, id: number): Promise<KeyResource> {
  allow(actor, 'keys:write')
  return rows.write(async (db, onCommit) => {
    const key = await findLiveKey(db, actor.workspaceId, id)
    await revokeKey({ rows: rowsWithin(rows, db, onCommit), now }, id)
    return key
  })
}
