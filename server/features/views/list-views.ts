// Lists the views of a workspace, newest first, a page at a time.

import { sql } from 'kysely'
import { cutPage, orderByCreation, type Page, readPageQuery } from '../../lib/pagination.ts'
import type { Actor } from '../accounts/access/actor.ts'
import type { ViewNeeds } from './create-view.ts'
import type { ViewListQueryInput, ViewResource } from './schema.ts'
import { selectViews, toViewResource } from './view.ts'

const ORDER = orderByCreation('createdAt desc')

/** @throws Failure `invalid` for a wrong cursor */
export async function listViews(
  { db, origin }: Omit<ViewNeeds, 'now'>,
  actor: Actor,
  query: ViewListQueryInput,
): Promise<Page<ViewResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  let page = selectViews(db.read, actor)
  if (after) page = page.where(sql<boolean>`(views.created_at, views.id) < (${after.value}, ${after.id})`)
  const found = await page
    .orderBy('views.created_at', 'desc')
    .orderBy('views.id', 'desc')
    .limit(limit + 1)
    .execute()
  const { total } = await db.read
    .selectFrom('views')
    .select((e) => e.fn.countAll<number>().as('total'))
    .where('workspace_id', '=', actor.workspaceId)
    .executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map((row) => toViewResource(origin, row)), nextCursor, total: Number(total) }
}
