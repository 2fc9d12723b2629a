// Putting tags on links.

import { invalid } from '../../lib/failure.ts'
import { foldCase } from '../../lib/text.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'

interface TagSelection {
  tagIds?: number[] | null
  tagNames?: string[] | null
}

/**
 * Replaces the tags of a link; leaves them alone when neither ids nor names are given. Unknown names are created.
 * @throws Failure `invalid` for a tag id that is not the workspace's
 */
export async function setLinkTags(
  db: Pick<Database, 'engine'>,
  connection: Connection,
  actor: Actor,
  linkId: number,
  { tagIds, tagNames }: TagSelection,
  at: number,
): Promise<void> {
  if (tagIds === undefined && tagNames === undefined) return
  if (tagNames?.length) await createMissingTags(connection, actor, tagNames, at)
  const found = await lockTags(db, connection, actor, { tagIds, tagNames })
  const unknown = tagIds?.find((id) => !found.includes(id))
  if (unknown !== undefined) throw invalid({ tagIds: `there is no tag ${unknown}` })
  await connection
    .deleteFrom('link_tags')
    .where('workspace_id', '=', actor.workspaceId)
    .where('link_id', '=', linkId)
    .execute()
  if (found.length === 0) return
  await connection
    .insertInto('link_tags')
    .values(found.map((tag_id) => ({ link_id: linkId, tag_id, workspace_id: actor.workspaceId })))
    .execute()
}

/** @returns the ids of those that are there, and stay until the end of this transaction */
async function lockTags(
  { engine }: Pick<Database, 'engine'>,
  connection: Connection,
  actor: Actor,
  { tagIds, tagNames }: TagSelection,
): Promise<number[]> {
  const keys = tagNames?.map(foldCase) ?? []
  const ids = tagIds ?? []
  if (keys.length + ids.length === 0) return []
  const tags = connection
    .selectFrom('tags')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where((e) => (keys.length > 0 ? e('name_key', 'in', keys) : e('id', 'in', ids)))
  // SQLite has one writer: nobody deletes a tag meanwhile.
  const held = engine === 'postgres' ? tags.forKeyShare() : tags
  return (await held.execute()).map(({ id }) => id)
}

async function createMissingTags(
  connection: Connection,
  actor: Actor,
  names: string[],
  at: number,
): Promise<void> {
  const byKey = new Map<string, string>()
  for (const name of names) if (!byKey.has(foldCase(name))) byKey.set(foldCase(name), name)
  await connection
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
