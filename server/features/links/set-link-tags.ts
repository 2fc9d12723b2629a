// Sets the tags of a link.

import { invalid } from '../../lib/failure.ts'
import { foldCase } from '../../lib/text.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { requireRoom } from '../accounts/access/workspace-limits.ts'

interface TagSelection {
  tagIds?: number[] | null
  tagNames?: string[] | null
}

/**
 * Replaces the tags of a link, unless neither ids nor names are given. Creates tags with unknown names.
 * @throws Failure `invalid` for a tag id that is not the workspace's, `conflict` for too many tags
 */
export async function setLinkTags(
  { db, connection }: { db: Pick<Database, 'engine'>; connection: Connection },
  actor: Actor,
  linkId: number,
  { tagIds, tagNames }: TagSelection,
  at: number,
): Promise<void> {
  if (tagIds === undefined && tagNames === undefined) return
  if (tagNames?.length) await createMissingTags(connection, actor, tagNames, at)
  const ids = await lockTags(db, connection, actor, { tagIds, tagNames })
  const unknown = tagIds?.find((id) => !ids.includes(id))
  if (unknown !== undefined) throw invalid({ tagIds: `there is no tag ${unknown}` })
  await connection
    .deleteFrom('link_tags')
    .where('workspace_id', '=', actor.workspaceId)
    .where('link_id', '=', linkId)
    .execute()
  if (ids.length === 0) return
  await connection
    .insertInto('link_tags')
    .values(ids.map((tag_id) => ({ link_id: linkId, tag_id, workspace_id: actor.workspaceId })))
    .execute()
}

/** Locks the existing tags until the end of the transaction. @returns their ids */
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
  // SQLite has one writer, so nobody can delete a tag meanwhile.
  const locked = engine === 'postgres' ? tags.forKeyShare() : tags
  return (await locked.execute()).map(({ id }) => id)
}

async function createMissingTags(
  connection: Connection,
  actor: Actor,
  names: string[],
  at: number,
): Promise<void> {
  const byKey = new Map<string, string>()
  for (const name of names) if (!byKey.has(foldCase(name))) byKey.set(foldCase(name), name)
  const created = await connection
    .insertInto('tags')
    .values(
      // Insert in one order, so that two requests that create the same tags cannot deadlock.
      [...byKey].sort().map(([name_key, name]) => ({
        workspace_id: actor.workspaceId,
        name,
        name_key,
        color: 'gray',
        created_at: at,
      })),
    )
    .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
    .returning('id')
    .execute()
  if (created.length > 0) await requireRoom(connection, actor.workspaceId, 'tags')
}
