// Lists the UTM templates of a workspace, newest first, a page at a time.

import { sql } from 'kysely'
import { cutPage, orderByCreation, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { UtmTemplateListQueryInput, UtmTemplateResource } from './schema.ts'
import { toUtmTemplateResource } from './utm-template.ts'

const ORDER = orderByCreation('createdAt desc')

/** @throws Failure `invalid` for a wrong cursor */
export async function listUtmTemplates(
  { db }: { db: Pick<Database, 'read'> },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: UtmTemplateListQueryInput,
): Promise<Page<UtmTemplateResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const all = db.read.selectFrom('utm_templates').where('workspace_id', '=', workspaceId)
  let page = all.selectAll()
  if (after) page = page.where(sql<boolean>`(created_at, id) < (${after.value}, ${after.id})`)
  const found = await page
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const { total } = await all.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map(toUtmTemplateResource), nextCursor, total: Number(total) }
}
