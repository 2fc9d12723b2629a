// Lists the forms of a workspace, newest first, one page at a time.

import { sql } from 'kysely'
import { cutPage, orderByCreation, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { FormListQueryInput, FormResource } from '../schema.ts'
import { type FormNeeds, selectForms, toFormResource } from './form.ts'

const ORDER = orderByCreation('forms createdAt desc')

/** @throws Failure `invalid` for a wrong cursor */
export async function listForms(
  needs: FormNeeds,
  actor: Actor,
  query: FormListQueryInput,
): Promise<Page<FormResource>> {
  const { read } = needs.db
  const { limit, after } = readPageQuery(query, ORDER)
  let page = selectForms(read, actor)
  if (after) page = page.where(sql<boolean>`(forms.created_at, forms.id) < (${after.value}, ${after.id})`)
  const found = await page
    .orderBy('forms.created_at', 'desc')
    .orderBy('forms.id', 'desc')
    .limit(limit + 1)
    .execute()
  const { total } = await read
    .selectFrom('forms')
    .select((e) => e.fn.countAll<number>().as('total'))
    .where('workspace_id', '=', actor.workspaceId)
    .executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map((form) => toFormResource(needs, form)), nextCursor, total: Number(total) }
}
