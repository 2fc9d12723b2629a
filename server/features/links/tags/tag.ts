// A tag as a row and as the resource that callers see.

import type { Selectable } from 'kysely'
import { Failure, notFound } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Tags } from '../../../storage/database/tables/link-tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { TagResource } from '../schema.ts'

export const tagNameConflict = () => new Failure('conflict', 'Tag name already in use')

/** @param links how many links have the tag */
export const toTagResource = (tag: Selectable<Tags>, links: number): TagResource => ({
  id: tag.id,
  name: tag.name,
  color: tag.color as TagResource['color'],
  pinned: tag.pinned === 1,
  links,
  createdAt: toIso(tag.created_at),
})

/** @throws Failure `not_found`, for an unknown tag and for a tag of another workspace alike */
export async function getTag(connection: Connection, actor: Actor, id: number): Promise<Selectable<Tags>> {
  const tag = await connection
    .selectFrom('tags')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!tag) throw notFound('Tag')
  return tag
}

const PINNED_MAX = 30

/** Call it after the change, as `requireRoom`. @throws Failure `conflict` */
export async function requireRoomForPin(connection: Connection, actor: Actor): Promise<void> {
  const { n } = await connection
    .selectFrom('tags')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', actor.workspaceId)
    .where('pinned', '=', 1)
    .executeTakeFirstOrThrow()
  if (Number(n) > PINNED_MAX)
    throw new Failure('conflict', `A workspace has at most ${PINNED_MAX} pinned tags. Unpin one first.`)
}

export async function countLinks(connection: Connection, actor: Actor, id: number): Promise<number> {
  return (await countLinksByTag(connection, actor, [id])).get(id) ?? 0
}

/** @returns counts by tag id; a tag without links is absent */
export async function countLinksByTag(
  connection: Connection,
  actor: Actor,
  ids: number[],
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await connection
    .selectFrom('link_tags')
    .innerJoin('links', 'links.id', 'link_tags.link_id')
    .select((e) => ['link_tags.tag_id', e.fn.countAll<number>().as('links')])
    .where('link_tags.workspace_id', '=', actor.workspaceId)
    .where('links.deleted_at', 'is', null)
    .where('link_tags.tag_id', 'in', ids)
    .groupBy('link_tags.tag_id')
    .execute()
  return new Map(rows.map((row) => [row.tag_id, Number(row.links)]))
}
