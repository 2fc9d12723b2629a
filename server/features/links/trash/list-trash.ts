// Lists the trash of a workspace, the link that was deleted last first, a page at a time.

import { sql } from 'kysely'
import { cutPage, fitPage, type Page, type PageOrder, readPageQuery } from '../../../lib/pagination.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { Site } from '../link.ts'
import { readLinks } from '../list.ts'
import { LINK_BYTES, type LinkPosition } from '../scan-links.ts'
import type { TrashedLinkResource, TrashQueryInput } from '../schema.ts'
import { toTrashedLink } from './trashed-link.ts'

const ORDER: PageOrder<LinkPosition> = {
  name: 'deletedAt desc',
  type: 'number',
  valueOf: ({ value }) => Number(value),
}

/** @throws Failure `invalid` for a wrong cursor */
export async function listTrash(
  needs: { db: Database; site: Site },
  actor: Actor,
  query: TrashQueryInput,
): Promise<Page<TrashedLinkResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const trash = needs.db.read
    .selectFrom('links')
    .where('workspace_id', '=', actor.workspaceId)
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
  let page = trash.select(['id', 'deleted_at as value', LINK_BYTES])
  if (after) page = page.where(sql<boolean>`(deleted_at, id) < (${after.value}, ${after.id})`)
  const found = await page
    .orderBy('deleted_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const { total } = await trash.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const positions = found.map(({ id, value, bytes }) => ({ id, value: Number(value), bytes }))
  const { rows, nextCursor } = cutPage(positions, fitPage(positions, limit), ORDER)
  const deletedAt = new Map(rows.map(({ id, value }) => [id, Number(value)]))
  const links = await readLinks(needs, actor, rows)
  return {
    data: links.map((link) => toTrashedLink(link, deletedAt.get(link.id) ?? 0)),
    nextCursor,
    total: Number(total),
  }
}
