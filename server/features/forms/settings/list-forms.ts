// Lists the forms of a workspace, newest first, one page at a time.

import { sql } from 'kysely'
import { decodeCursor, encodeCursor } from '../../../lib/cursor.ts'
import { invalid } from '../../../lib/failure.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { FormListQueryInput, FormResource } from '../schema.ts'
import { type FormNeeds, selectForms, toFormResource } from './form.ts'

const PAGE = 50
const ORDER = 'forms createdAt desc'

/** @throws Failure `invalid` for a wrong cursor */
export async function listForms(
  needs: FormNeeds,
  actor: Actor,
  query: FormListQueryInput,
): Promise<{ data: FormResource[]; nextCursor: string | null; total: number }> {
  const { read } = needs.db
  const limit = query.limit ?? PAGE
  let page = selectForms(read, actor)
  if (query.cursor !== undefined) {
    const cursor = decodeCursor(query.cursor, ORDER)
    if (typeof cursor?.value !== 'number')
      throw invalid({ cursor: 'is not a cursor of this list; start again without it' })
    page = page.where(sql<boolean>`(forms.created_at, forms.id) < (${cursor.value}, ${cursor.id})`)
  }
  const rows = await page
    .orderBy('forms.created_at', 'desc')
    .orderBy('forms.id', 'desc')
    .limit(limit + 1)
    .execute()
  const { total } = await read
    .selectFrom('forms')
    .select((e) => e.fn.countAll<number>().as('total'))
    .where('workspace_id', '=', actor.workspaceId)
    .executeTakeFirstOrThrow()
  const forms = rows.slice(0, limit)
  const last = rows.length > limit ? forms.at(-1) : undefined
  return {
    data: forms.map((form) => toFormResource(needs, form)),
    nextCursor: last ? encodeCursor({ order: ORDER, value: last.created_at, id: last.id }) : null,
    total: Number(total),
  }
}
