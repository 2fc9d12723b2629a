// Changes the name or color of a tag, and pins it.

import { foldCase } from '../../../lib/text.ts'
import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { TagResource, UpdateTagInput } from '../schema.ts'
import { countLinks, getTag, requireRoomForPin, tagNameConflict, toTagResource } from './tag.ts'

/** @throws Failure `forbidden`, `not_found`, `conflict` */
export function updateTag(
  { db }: { db: Database },
  actor: Actor,
  id: number,
  input: UpdateTagInput,
): Promise<TagResource> {
  allow(actor, 'tags:write')
  return db.write(async (connection) => {
    const tag = await getTag(connection, actor, id)
    const name = input.name ?? tag.name
    const color = input.color === null ? 'gray' : (input.color ?? tag.color)
    const pinned = input.pinned === undefined ? tag.pinned : Number(input.pinned)
    const changed = { ...tag, name, name_key: foldCase(name), color, pinned }
    try {
      await connection
        .updateTable('tags')
        .set({ name, name_key: changed.name_key, color, pinned })
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', id)
        .execute()
    } catch (error) {
      throw isUniqueViolation(error) ? tagNameConflict() : error
    }
    if (pinned > tag.pinned) await requireRoomForPin(connection, actor)
    return toTagResource(changed, await countLinks(connection, actor, id))
  })
}
