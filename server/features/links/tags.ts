// Tags: made, renamed, deleted, listed. Deleting one leaves its links and their clicks.

import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import { decodeCursor, encodeCursor } from '../../lib/cursor.ts'
import { Failure, invalid, notFound } from '../../lib/failure.ts'
import { foldCase } from '../../lib/text.ts'
import { iso } from '../../lib/wire.ts'
import { isUniqueViolation } from '../../storage/rows/errors.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { Tags } from '../../storage/rows/tables.ts'
import { type Actor, allow } from '../accounts/actor.ts'
import type { CreateTagInput, TagListQueryInput, TagResource, UpdateTagInput } from './schema.ts'

const PAGE = 50
const ORDER = 'createdAt desc'

const nameTaken = () => new Failure('conflict', 'Tag name already in use')

const tagResource = (tag: Selectable<Tags>, links: number): TagResource => ({
  id: tag.id,
  name: tag.name,
  color: tag.color as TagResource['color'],
  links,
  createdAt: iso(tag.created_at),
})

/** @throws Failure `conflict` */
export function createTag(
  { rows, now }: { rows: Rows; now: () => number },
  actor: Actor,
  input: CreateTagInput,
): Promise<TagResource> {
  allow(actor, 'tags:write')
  const { name } = input
  return rows.write(async (db) => {
    const tag = await db
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
    if (!tag) throw nameTaken()
    return tagResource(tag, 0)
  })
}

/** @throws Failure `not_found`, `conflict` */
export function updateTag(
  { rows }: { rows: Rows },
  actor: Actor,
  id: number,
  input: UpdateTagInput,
): Promise<TagResource> {
  allow(actor, 'tags:write')
  return rows.write(async (db) => {
    const tag = await findTag(db, actor, id)
    const name = input.name ?? tag.name
    const color = input.color === null ? 'gray' : (input.color ?? tag.color)
    const changed = { ...tag, name, name_key: foldCase(name), color }
    try {
      await db
        .updateTable('tags')
        .set({ name, name_key: changed.name_key, color })
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', id)
        .execute()
    } catch (error) {
      throw isUniqueViolation(error) ? nameTaken() : error
    }
    return tagResource(changed, await countLinks(db, actor, id))
  })
}

/** @returns the tag as it was. @throws Failure `not_found` */
export function deleteTag({ rows }: { rows: Rows }, actor: Actor, id: number): Promise<TagResource> {
  allow(actor, 'tags:write')
  return rows.write(async (db) => {
    const tag = await findTag(db, actor, id)
    const links = await countLinks(db, actor, id)
    await db.deleteFrom('tags').where('workspace_id', '=', actor.workspaceId).where('id', '=', id).execute()
    return tagResource(tag, links)
  })
}

/** Newest first. @throws Failure `invalid` for a wrong cursor */
export async function listTags(
  { rows }: { rows: Rows },
  actor: Actor,
  query: TagListQueryInput,
): Promise<{ data: TagResource[]; nextCursor: string | null; total: number }> {
  const limit = query.limit ?? PAGE
  const search = query.search ? `%${foldCase(query.search).replace(/[\\%_]/g, '\\$&')}%` : '%'
  const mine = rows.read
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
  const counts = await countLinksOf(
    rows.read,
    actor,
    tags.map((tag) => tag.id),
  )
  return {
    data: tags.map((tag) => tagResource(tag, counts.get(tag.id) ?? 0)),
    nextCursor: last ? encodeCursor({ order: ORDER, value: last.created_at, id: last.id }) : null,
    total: Number(total),
  }
}

async function findTag(db: Db, actor: Actor, id: number): Promise<Selectable<Tags>> {
  const tag = await db
    .selectFrom('tags')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!tag) throw notFound('Tag')
  return tag
}

async function countLinks(db: Db, actor: Actor, id: number): Promise<number> {
  return (await countLinksOf(db, actor, [id])).get(id) ?? 0
}

async function countLinksOf(db: Db, actor: Actor, ids: number[]): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await db
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
