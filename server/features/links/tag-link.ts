// Putting tags on links.

import { invalid } from '../../lib/failure.ts'
import { foldCase } from '../../lib/text.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { Actor } from '../accounts/actor.ts'

interface Wanted {
  tagIds?: number[] | null
  tagNames?: string[] | null
}

/**
 * Replaces the tags of a link; leaves them alone when neither ids nor names are given. Unknown names are created.
 * @throws Failure `invalid` for a tag id that is not the workspace's
 */
export async function tagLink(
  rows: Pick<Rows, 'engine'>,
  db: Db,
  actor: Actor,
  linkId: number,
  { tagIds, tagNames }: Wanted,
  at: number,
): Promise<void> {
  if (tagIds === undefined && tagNames === undefined) return
  if (tagNames?.length) await makeTags(db, actor, tagNames, at)
  const found = await holdTags(rows, db, actor, { tagIds, tagNames })
  const unknown = tagIds?.find((id) => !found.includes(id))
  if (unknown !== undefined) throw invalid({ tagIds: `there is no tag ${unknown}` })
  await db
    .deleteFrom('link_tags')
    .where('workspace_id', '=', actor.workspaceId)
    .where('link_id', '=', linkId)
    .execute()
  if (found.length === 0) return
  await db
    .insertInto('link_tags')
    .values(found.map((tag_id) => ({ link_id: linkId, tag_id, workspace_id: actor.workspaceId })))
    .execute()
}

/** @returns the ids of those that are there, and stay until the end of this transaction */
async function holdTags(
  { engine }: Pick<Rows, 'engine'>,
  db: Db,
  actor: Actor,
  { tagIds, tagNames }: Wanted,
): Promise<number[]> {
  const keys = tagNames?.map(foldCase) ?? []
  const ids = tagIds ?? []
  if (keys.length + ids.length === 0) return []
  const tags = db
    .selectFrom('tags')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where((e) => (keys.length > 0 ? e('name_key', 'in', keys) : e('id', 'in', ids)))
  // SQLite has one writer: nobody deletes a tag meanwhile.
  const held = engine === 'postgres' ? tags.forKeyShare() : tags
  return (await held.execute()).map(({ id }) => id)
}

async function makeTags(db: Db, actor: Actor, names: string[], at: number): Promise<void> {
  const byKey = new Map<string, string>()
  for (const name of names) if (!byKey.has(foldCase(name))) byKey.set(foldCase(name), name)
  await db
    .insertInto('tags')
    .values(
      // In one order everywhere, so that two requests making the same tags cannot lock each other out.
      [...byKey].sort().map(([name_key, name]) => ({
        workspace_id: actor.workspaceId,
        name,
        name_key,
        color: 'gray',
        created_at: at,
      })),
    )
    .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
    .execute()
}
