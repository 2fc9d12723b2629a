// The links of a workspace: filtered, sorted, a page at a time.

import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { decodeCursor, encodeCursor } from '../../lib/cursor.ts'
import { invalid } from '../../lib/failure.ts'
import { foldCase } from '../../lib/text.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { type LinkRow, type Site, toLinkResources } from './link.ts'
import type { LinkListQueryInput, LinkResource } from './schema.ts'

const PAGE = 50

/** Never-clicked links sort as clicked at 0: null would compare with nothing and fall out of the pages. */
const SORT = {
  createdAt: { type: 'number', sql: sql<number>`created_at`, of: (link: LinkRow) => link.created_at },
  clicks: { type: 'number', sql: sql<number>`clicks`, of: (link: LinkRow) => link.clicks },
  lastClickedAt: {
    type: 'number',
    sql: sql<number>`coalesce(last_clicked_at, 0)`,
    of: (link: LinkRow) => link.last_clicked_at ?? 0,
  },
  slug: { type: 'string', sql: sql<string>`slug_key`, of: (link: LinkRow) => link.slug_key },
} as const

type LinksQuery<O> = SelectQueryBuilder<Tables, 'links', O>

/** @throws Failure `invalid` for a cursor that is not of this list's order */
export async function listLinks(
  { db, site }: { db: Database; site: Site },
  actor: Actor,
  query: LinkListQueryInput,
): Promise<{ data: LinkResource[]; nextCursor: string | null; total: number }> {
  const sort = SORT[query.sort ?? 'createdAt']
  const direction = query.order ?? 'desc'
  const order = `${query.sort ?? 'createdAt'} ${direction}`
  const limit = query.limit ?? PAGE

  let page = applyFilters(db.read.selectFrom('links').selectAll(), site, actor, query)
  if (query.cursor !== undefined) {
    const cursor = decodeCursor(query.cursor, order)
    if (!cursor || typeof cursor.value !== sort.type)
      throw invalid({ cursor: 'is not a cursor of this list; start again without it' })
    page = page.where(afterCursor(sort.sql, direction, cursor.value, cursor.id))
  }
  const found = await page
    .orderBy(sort.sql, direction)
    .orderBy('id', direction)
    .limit(limit + 1)
    .execute()
  const { total } = await applyFilters(
    db.read.selectFrom('links').select((e) => e.fn.countAll<number>().as('total')),
    site,
    actor,
    query,
  ).executeTakeFirstOrThrow()

  const links = found.slice(0, limit)
  const last = found.length > limit ? links.at(-1) : undefined
  return {
    data: await toLinkResources(db.read, site, links),
    nextCursor: last ? encodeCursor({ order, value: sort.of(last), id: last.id }) : null,
    total: Number(total),
  }
}

function afterCursor(
  column: Expression<string | number>,
  direction: 'asc' | 'desc',
  value: string | number,
  id: number,
) {
  const beyond = direction === 'asc' ? sql`>` : sql`<`
  return sql<SqlBool>`(${column} ${beyond} ${value} or (${column} = ${value} and id ${beyond} ${id}))`
}

function applyFilters<O>(
  query: LinksQuery<O>,
  site: Site,
  actor: Actor,
  by: LinkListQueryInput,
): LinksQuery<O> {
  let links = query.where('workspace_id', '=', actor.workspaceId).where('deleted_at', 'is', null)
  if (by.archived !== 'all') links = links.where('archived', '=', by.archived === 'true' ? 1 : 0)
  if (by.externalId !== undefined) links = links.where('external_id', '=', by.externalId)
  if (by.domain !== undefined) {
    const domain = by.domain.toLowerCase()
    links = links.where('domain', '=', domain === site.domain.toLowerCase() ? '' : domain)
  }
  if (by.search) {
    const pattern = `%${foldCase(by.search).replace(/[\\%_]/g, '\\$&')}%`
    links = links.where(sql<SqlBool>`search_text like ${pattern} escape '\\'`)
  }
  const tagIds = by.tagId
  if (tagIds) {
    links = links.where('id', 'in', (e) =>
      e
        .selectFrom('link_tags')
        .select('link_id')
        .where('workspace_id', '=', actor.workspaceId)
        .where('tag_id', 'in', tagIds),
    )
  }
  return links
}
