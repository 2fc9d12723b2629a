// Lists the links of a workspace: filtered, sorted, a page at a time.

import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { cutPage, type Page, type PageOrder, type PagePosition, readPageQuery } from '../../lib/pagination.ts'
import { containsText } from '../../storage/database/contains-text.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { type LinkRow, type Site, toLinkResources } from './link.ts'
import type { LinkListQueryInput, LinkResource } from './schema.ts'

interface LinkSort extends Omit<PageOrder<LinkRow>, 'name'> {
  column: Expression<string | number>
}

const SORTS: Record<NonNullable<LinkListQueryInput['sort']>, LinkSort> = {
  createdAt: { type: 'number', column: sql<number>`created_at`, valueOf: (link) => link.created_at },
  clicks: { type: 'number', column: sql<number>`clicks`, valueOf: (link) => link.clicks },
  lastClickedAt: {
    type: 'number',
    // Links without clicks sort as clicked at 0. A null would compare with nothing, and the link would be on no page.
    column: sql<number>`coalesce(last_clicked_at, 0)`,
    valueOf: (link) => link.last_clicked_at ?? 0,
  },
  slug: { type: 'string', column: sql<string>`slug_key`, valueOf: (link) => link.slug_key },
}

interface ListNeeds {
  db: Database
  site: Site
}

type LinksQuery<O> = SelectQueryBuilder<Tables, 'links', O>

/** @throws Failure `invalid` for a cursor of another list or order */
export async function listLinks(
  { db, site }: ListNeeds,
  actor: Actor,
  query: LinkListQueryInput,
): Promise<Page<LinkResource>> {
  const { sort = 'createdAt', order: direction = 'desc' } = query
  const { column, ...sortOrder } = SORTS[sort]
  const order = { ...sortOrder, name: `${sort} ${direction}` }
  const { limit, after } = readPageQuery(query, order)

  let page = applyFilters(db.read.selectFrom('links').selectAll(), { db, site }, actor, query)
  if (after) page = page.where(isAfter(column, direction, after))
  const found = await page
    .orderBy(column, direction)
    .orderBy('id', direction)
    .limit(limit + 1)
    .execute()
  const { total } = await applyFilters(
    db.read.selectFrom('links').select((e) => e.fn.countAll<number>().as('total')),
    { db, site },
    actor,
    query,
  ).executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, order)
  return { data: await toLinkResources(db.read, site, rows), nextCursor, total: Number(total) }
}

function isAfter(
  column: Expression<string | number>,
  direction: 'asc' | 'desc',
  { value, id }: PagePosition<string | number>,
) {
  const comparison = direction === 'asc' ? sql`>` : sql`<`
  return sql<SqlBool>`(${column} ${comparison} ${value} or (${column} = ${value} and id ${comparison} ${id}))`
}

function applyFilters<O>(
  query: LinksQuery<O>,
  { db, site }: ListNeeds,
  actor: Actor,
  filters: LinkListQueryInput,
): LinksQuery<O> {
  let links = query.where('workspace_id', '=', actor.workspaceId).where('deleted_at', 'is', null)
  if (filters.archived !== 'all') links = links.where('archived', '=', filters.archived === 'true' ? 1 : 0)
  if (filters.externalId !== undefined) links = links.where('external_id', '=', filters.externalId)
  if (filters.domain !== undefined) {
    const domain = filters.domain.toLowerCase()
    links = links.where('domain', '=', domain === site.domain.toLowerCase() ? '' : domain)
  }
  if (filters.search) links = links.where(containsText(db.engine, 'search_text', filters.search))
  const tagIds = filters.tagId
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
