// Putting tags on links.

import { invalid } from '../../lib/failure.ts'
import { foldCase } from '../../lib/text.ts'
import type { Db } from '../../storage/rows/open.ts'
import type { Actor } from '../accounts/actor.ts'

interface Wanted {
  tagIds?: number[] | null
  tagNames?: string[] | null
}

/**
 * Replaces the tags of a link; leaves them alone when neither ids nor names are given.
 * @throws Failure `invalid` for a tag id that is not the workspace's
 */
export async function tagLink(
  db: Db,
  actor: Actor,
  linkId: number,
  wanted: Wanted,
  at: number,
): Promise<void> {
  if (wanted.tagIds === undefined && wanted.tagNames === undefined) return
  const ids = wanted.tagNames
    ? await idsOfNames(db, actor, wanted.tagNames, at)
    : await knownIds(db, actor, wanted.tagIds ?? [])
  await db
    .deleteFrom('link_tags')
    .where('workspace_id', '=', actor.workspaceId)
    .where('link_id', '=', linkId)
    .execute()
  if (ids.length === 0) return
  await db
    .insertInto('link_tags')
    .values(ids.map((tag_id) => ({ link_id: linkId, tag_id, workspace_id: actor.workspaceId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function knownIds(db: Db, actor: Actor, tagIds: number[]): Promise<number[]> {
  const ids = [...new Set(tagIds)]
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('tags')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', 'in', ids)
    .execute()
  const known = new Set(rows.map((row) => row.id))
  const missing = ids.find((id) => !known.has(id))
  if (missing !== undefined) throw invalid({ tagIds: `there is no tag ${missing}` })
  return ids
}

async function idsOfNames(db: Db, actor: Actor, names: string[], at: number): Promise<number[]> {
  const byKey = new Map(names.map((name) => [foldCase(name.trim()), name.trim()]))
  if (byKey.size === 0) return []
  await db
    .insertInto('tags')
    .values(
      [...byKey].map(([name_key, name]) => ({
        workspace_id: actor.workspaceId,
        name,
        name_key,
        color: 'gray',
        created_at: at,
      })),
    )
    .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
    .execute()
  const rows = await db
    .selectFrom('tags')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('name_key', 'in', [...byKey.keys()])
    .execute()
  return rows.map((row) => row.id)
}
