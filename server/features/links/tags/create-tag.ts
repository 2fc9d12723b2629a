// Creates a tag in a workspace.

import { foldCase } from '../../../lib/text.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import type { CreateTagInput, TagResource } from '../schema.ts'
import { requireRoomForPin, tagNameConflict, toTagResource } from './tag.ts'

/** @throws Failure `forbidden`, `conflict` */
export function createTag(
  { db, now }: { db: Database; now: () => number },
  actor: Actor,
  input: CreateTagInput,
): Promise<TagResource> {
  allow(actor, 'tags:write')
  const { name } = input
  return db.write(async (connection) => {
    const tag = await connection
      .insertInto('tags')
      .values({
        workspace_id: actor.workspaceId,
        name,
        name_key: foldCase(name),
        color: input.color ?? 'gray',
        pinned: Number(input.pinned ?? false),
        created_at: now(),
      })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!tag) throw tagNameConflict()
    await requireRoom(connection, actor.workspaceId, 'tags')
    if (input.pinned) await requireRoomForPin(connection, actor)
    return toTagResource(tag, 0)
  })
}
