// Tags: made, renamed, deleted, listed. Deleting one leaves its links and their clicks.

import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import { toIso } from '../../../lib/api-fields.ts'
import { decodeCursor, encodeCursor } from '../../../lib/cursor.ts'
import { Failure, invalid, notFound } from '../../../lib/failure.ts'
import { foldCase } from '../../../lib/text.ts'
import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Tags } from '../../../storage/database/tables.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { CreateTagInput, TagListQueryInput, TagResource, UpdateTagInput } from '../schema.ts'

const PAGE = 50
const ORDER = 'createdAt desc'

const tagNameConflict = () => new Failure('conflict', 'Tag name already in use')

const toTagResource = (tag: Selectable<Tags>, links: number): TagResource => ({
  id: tag.id,
  name: tag.name,
  color: tag.color as TagResource['color'],
  links,
  createdAt: toIso(tag.created_at),
})

/** @throws Failure `conflict` */
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
        created_at: now(),
      })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!tag) throw tagNameConflict()
    return toTagResource(tag, 0)
  })
}

/** @throws Failure `not_found`, `conflict` */
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
    const changed = { ...tag, name, name_key: foldCase(name), color }
    try {
      await connection
        .updateTable('tags')
        .set({ name, name_key: changed.name_key, color })
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', id)
        .execute()
    } catch (error) {
      throw isUniqueViolation(error) ? tagNameConflict() : error
    }
    return toTagResource(changed, await countLinks(connection, actor, id))
  })
}

/** @returns the tag as it was. @throws Failure `not_found` */
export function deleteTag({ db }: { db: Database }, actor: Actor, id: number): Promise<TagResource> {
  allow(actor, 'tags:write')
  return db.write(async (connection) => {
    const tag = await getTag(connection, actor, id)
    const links = await countLinks(connection, actor, id)
    await connection
      .deleteFrom('tags')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .execute()
    return toTagResource(tag, links)
  })
}

/** Newest first. @throws Failure `invalid` for a wrong cursor */
export async function listTags(
  { db }: { db: Database },
  actor: Actor,
  query: TagListQueryInput,
): Promise<{ data: TagResource[]; nextCursor: string | null; total: number }> {
  const limit = query.limit ?? PAGE
  const search = query.search ? `%${foldCase(query.search).replace(/[\\%_]/g, '\\$&')}%` : '%'
  const mine = db.read
    .selectFrom('tags')
    .where('workspace_id', '=', actor.workspaceId)
    .where(sql<boolean>`name_key like ${search} escape '\\'`)
  let page = mine.selectAll()
  if (query.cursor !== undefined) {
    const cursor = decodeCursor(query.cursor, ORDER)
    if (typeof cursor?.value !== 'number')
      throw invalid({ cursor: 'is not a cursor of this list; start again without it' })
    const { value, id } = cursor
    page = page.where((e) =>
      e.or([e('created_at', '<', value), e.and([e('created_at', '=', value), e('id', '<', id)])]),
    )
  }
  const found = await page
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const { total } = await mine.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const tags = found.slice(0, limit)
  const last = found.length > limit ? tags.at(-1) : undefined
  const counts = await countLinksByTag(
    db.read,
    actor,
    tags.map((tag) => tag.id),
  )
  return {
    data: tags.map((tag) => toTagResource(tag, counts.get(tag.id) ?? 0)),
    nextCursor: last ? encodeCursor({ order: ORDER, value: last.created_at, id: last.id }) : null,
    total: Number(total),
  }
}

async function getTag(connection: Connection, actor: Actor, id: number): Promise<Selectable<Tags>> {
  const tag = await connection
    .selectFrom('tags')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!tag) throw notFound('Tag')
  return tag
}

async function countLinks(connection: Connection, actor: Actor, id: number): Promise<number> {
  return (await countLinksByTag(connection, actor, [id])).get(id) ?? 0
}

async function countLinksByTag(
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
