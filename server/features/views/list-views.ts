// Lists the views of a workspace, newest first, a page at a time.

import type { Page } from '../../lib/pagination.ts'
import { listNewest } from '../../storage/database/list-newest.ts'
import type { Actor } from '../accounts/access/actor.ts'
import type { ViewNeeds } from './create-view.ts'
import type { ViewListQueryInput, ViewResource } from './schema.ts'
import { selectViews, toViewResource } from './view.ts'

const ORDER = { name: 'views createdAt desc', table: 'views', byCreation: true }

/** @throws Failure `invalid` for a wrong cursor */
export async function listViews(
  { db, origin }: Omit<ViewNeeds, 'now'>,
  actor: Actor,
  query: ViewListQueryInput,
): Promise<Page<ViewResource>> {
  const { rows, ...page } = await listNewest(selectViews(db.read, actor), query, ORDER)
  return { data: rows.map((row) => toViewResource(origin, row)), ...page }
}
