// Deletes a tag that an import has created, unless it is in use.

import type { Connection } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { countLinks } from './tag.ts'

/** @param color that it was created with @returns whether the tag is gone; one with links, another name or another color stays */
export async function deleteUnusedTagIn(
  connection: Connection,
  actor: Actor,
  { id, name, color }: { id: number; name: string; color: string },
): Promise<boolean> {
  allow(actor, 'tags:write')
  const tag = await connection
    .selectFrom('tags')
    .select(['name', 'color'])
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!tag) return true
  if (tag.name !== name || tag.color !== color) return false
  if ((await countLinks(connection, actor, id)) > 0) return false
  await connection
    .deleteFrom('tags')
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .execute()
  return true
}
