// Deletes a tag. Its links and their clicks stay.

import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import type { TagResource } from '../schema.ts'
import { countLinks, getTag, toTagResource } from './tag.ts'

/** @returns the tag as it was. @throws Failure `forbidden`, `not_found` */
export function deleteTag(
  { db, now }: { db: Database; now: () => number },
  actor: Actor,
  id: number,
): Promise<TagResource> {
  allow(actor, 'tags:write')
  return db.write(async (connection) => {
    const tag = await getTag(connection, actor, id)
    const links = await countLinks(connection, actor, id)
    await connection
      .deleteFrom('tags')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
    const target = { type: 'tag', id, name: tag.name } as const
    await recordAudit(connection, actor, { action: 'tag.deleted', target, detail: { links } }, now())
    return toTagResource(tag, links)
  })
}
