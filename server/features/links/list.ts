// Lists the links of a workspace: filtered, sorted, a page at a time.

import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { cutIntoSteps, takeTurn } from '../../lib/concurrency/take-turn.ts'
import { cutPage, fitPage, type Page, type PageOrder, readPageQuery } from '../../lib/pagination.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { selectLinks, toLinkRow } from './counters.ts'
import { type LinkRow, type Site, toLinkResources } from './link.ts'
import { toStoredDomain } from './names/link-domain.ts'
import {
  countFilteredLinks,
  isAfter,
  LINK_BYTES,
  type LinkPosition,
  type LinkScan,
  scanLinks,
} from './scan-links.ts'
import type { LinkListQueryInput, LinkResource } from './schema.ts'
import { matchesSearch } from './search.ts'

interface LinkSort {
  type: 'number' | 'string'
  column: RawBuilder<string | number>
}

const SORTS: Record<NonNullable<LinkListQueryInput['sort']>, LinkSort> = {
  createdAt: { type: 'number', column: sql<number>`created_at` },
  clicks: { type: 'number', column: sql<number>`clicks` },
  // Links without clicks sort as clicked at 0, because a null would compare with nothing and hide the link from every
  // page.
  lastClickedAt: { type: 'number', column: sql<number>`coalesce(last_clicked_at, 0)` },
  slug: { type: 'string', column: sql<string>`slug_key` },
}

/** Links that are read and written at a time. A link has some kilobytes, and at most a megabyte. */
const STEP_BYTES = 256 * 1024

interface ListNeeds {
  db: Database
  site: Site
}

type LinkFilters = Pick<LinkListQueryInput, 'archived' | 'externalId' | 'domain' | 'search' | 'tagId'>

/** @throws Failure `invalid` for a cursor of another list or order */
export async function listLinks(
  needs: ListNeeds,
  actor: Actor,
  query: LinkListQueryInput,
  signal?: AbortSignal,
): Promise<Page<LinkResource>> {
  const { sort = 'createdAt', order: direction = 'desc' } = query
  const { column, type } = SORTS[sort]
  const order: PageOrder<LinkPosition> = {
    name: `links ${sort} ${direction}`,
    type,
    // PostgreSQL answers an expression of a bigint as a text.
    valueOf: ({ value }) => (type === 'number' ? Number(value) : value),
  }
  const { limit, after } = readPageQuery(query, order)
  const filtered = filterLinks(needs, actor, query)
  const searchesText = Boolean(query.search)
  const scan = { filtered, column, direction, after, limit: limit + 1, searchesText, signal }
  // PostgreSQL searches in other processes.
  const isScanned = needs.db.engine === 'sqlite' && !isIndexed(query)
  const found = await (isScanned ? scanLinks(needs.db.read, actor, scan) : queryLinks(needs.db, actor, scan))
  const { rows, nextCursor } = cutPage(found.positions, fitPage(found.positions, limit), order)
  return { data: await readLinks(needs, actor, rows), nextCursor, total: found.total }
}

/** An index has the order, and nearly all links pass. */
const isIndexed = ({ sort, archived, search, domain, tagId }: LinkListQueryInput) =>
  sort !== 'lastClickedAt' && archived !== 'true' && !search && domain === undefined && tagId === undefined

async function queryLinks(db: Database, actor: Actor, scan: LinkScan) {
  const { filtered, column, direction, after, limit, signal } = scan
  let page = filtered.select(['id', column.as('value')])
  if (after) page = page.where(isAfter(column, direction, after))
  // PostgreSQL would read the texts of all links before it sorts them.
  const positions = await db.read
    .selectFrom(page.orderBy(column, direction).orderBy('id', direction).limit(limit).as('page'))
    .innerJoin('links', 'links.id', 'page.id')
    .select(['page.id', 'page.value', LINK_BYTES])
    .orderBy('page.value', direction)
    .orderBy('page.id', direction)
    .execute()
  return {
    positions: positions as LinkPosition[],
    total: await countFilteredLinks(db, actor, filtered, signal),
  }
}

/** Reads whole links, some kilobytes a turn, in the order of the positions. */
export async function readLinks(
  needs: ListNeeds,
  actor: Actor,
  positions: LinkPosition[],
): Promise<LinkResource[]> {
  const resources: LinkResource[] = []
  for await (const rows of readStoredLinks(needs.db.read, actor, positions))
    resources.push(...(await toLinkResources(needs.db.read, needs.site, rows)))
  return resources
}

/** Yields the rows of some kilobytes at a time, in the order of the positions. */
export async function* readStoredLinks(
  read: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  positions: Pick<LinkPosition, 'id' | 'bytes'>[],
): AsyncGenerator<LinkRow[]> {
  for (const step of cutIntoSteps(positions, STEP_BYTES)) {
    await takeTurn()
    const ids = step.map(({ id }) => id)
    const links = await selectLinks(read)
      .where('links.id', 'in', ids)
      .where(sql<SqlBool>`+links.workspace_id = ${workspaceId}`)
      .execute()
    const byId = new Map(links.map((link) => [link.id, toLinkRow(link)]))
    yield ids.flatMap((id) => byId.get(id) ?? [])
  }
}

/** The links that are not deleted and pass the filters. The caller adds the columns. */
export function filterLinks(
  { db, site }: ListNeeds,
  actor: Pick<Actor, 'workspaceId'>,
  filters: LinkFilters,
): SelectQueryBuilder<Tables, 'links', object> {
  let links = db.read
    .selectFrom('links')
    .where('workspace_id', '=', actor.workspaceId)
    .where('deleted_at', 'is', null)
  if (filters.archived !== 'all') links = links.where('archived', '=', filters.archived === 'true' ? 1 : 0)
  if (filters.externalId !== undefined) links = links.where('external_id', '=', filters.externalId)
  if (filters.domain !== undefined) {
    links = links.where('domain', '=', toStoredDomain(site, filters.domain))
  }
  const { search } = filters
  if (search) links = links.where((e) => matchesSearch({ engine: db.engine, site }, e, search))
  const tagIds = filters.tagId
  if (tagIds) {
    // Asked of each link by the key of link_tags. A list of the tag's links would be made anew for each step of a scan.
    links = links.where((e) =>
      e.exists(
        e
          .selectFrom('link_tags')
          .select('link_tags.link_id')
          .whereRef('link_tags.link_id', '=', 'links.id')
          .where('link_tags.workspace_id', '=', actor.workspaceId)
          .where('link_tags.tag_id', 'in', tagIds),
      ),
    )
  }
  return links
}
