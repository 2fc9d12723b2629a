// The submissions of a form, newest first, a page at a time.

import { sql } from 'kysely'
import { decodeCursor, encodeCursor } from '../../lib/cursor.ts'
import { invalid } from '../../lib/failure.ts'
import type { Actor } from '../accounts/actor.ts'
import { findFormId } from './find-form.ts'
import type { SubmissionListQueryInput, SubmissionResource } from './schema.ts'
import {
  readSettled,
  SUBMISSION_COLUMNS,
  type SubmissionNeeds,
  selectedSubmissions,
  submissionResource,
} from './submission.ts'

const PAGE = 50
const ORDER = 'submissions createdAt desc'

/** @throws Failure `not_found`, `invalid` for a wrong cursor */
export async function listSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  formKey: string,
  query: SubmissionListQueryInput,
): Promise<{ data: SubmissionResource[]; nextCursor: string | null; total: number }> {
  const { read } = needs.rows
  const formId = await findFormId(read, actor, formKey)
  const limit = query.limit ?? PAGE
  const chosen = selectedSubmissions(read, actor, formId, query)
  let page = chosen.select(SUBMISSION_COLUMNS).select('forms.form_key')
  if (query.cursor !== undefined) {
    const cursor = decodeCursor(query.cursor, ORDER)
    if (typeof cursor?.value !== 'number')
      throw invalid({ cursor: 'is not a cursor of this list; start again without it' })
    const { value, id } = cursor
    page = page.where(sql<boolean>`(submissions.created_at, submissions.id) < (${value}, ${id})`)
  }
  const newestFirst = page
    .orderBy('submissions.created_at', 'desc')
    .orderBy('submissions.id', 'desc')
    .limit(limit + 1)
  const found = await readSettled(needs, actor, () => newestFirst.execute())
  const { total } = await chosen.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return {
    data: rows.map(submissionResource),
    nextCursor: last ? encodeCursor({ order: ORDER, value: last.created_at, id: last.id }) : null,
    total: Number(total),
  }
}
