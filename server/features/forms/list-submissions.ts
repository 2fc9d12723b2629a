// Submissions, newest first, a page at a time: those of a form, or those of all of them.

import { type SelectQueryBuilder, sql } from 'kysely'
import { decodeCursor, encodeCursor } from '../../lib/cursor.ts'
import { invalid } from '../../lib/failure.ts'
import type { Db } from '../../storage/rows/open.ts'
import type { Tables } from '../../storage/rows/tables.ts'
import type { Actor } from '../accounts/actor.ts'
import { findFormId, findFormIdOrNone } from './find-form.ts'
import type { AllSubmissionsQueryInput, SubmissionListQueryInput, SubmissionResource } from './schema.ts'
import {
  readSettled,
  SUBMISSION_COLUMNS,
  type SubmissionNeeds,
  type SubmissionRow,
  selectedSubmissions,
  submissionResource,
  workspaceSubmissions,
} from './submission.ts'

const PAGE = 50
const ORDER = 'submissions createdAt desc'

interface Page {
  data: SubmissionResource[]
  nextCursor: string | null
  total: number
}

/** @throws Failure `not_found`, `invalid` for a wrong cursor */
export async function listSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  formKey: string,
  query: SubmissionListQueryInput,
): Promise<Page> {
  const { read } = needs.rows
  const formId = await findFormId(read, actor, formKey)
  return pageOf(needs, actor, query, ofForm(read, actor, formId, query))
}

/** Of every form of the workspace. A form that does not exist has none. @throws Failure `invalid` for a wrong cursor */
export async function listAllSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  { formKey, ...query }: AllSubmissionsQueryInput,
): Promise<Page> {
  const { read } = needs.rows
  if (formKey !== undefined) {
    const formId = await findFormIdOrNone(read, actor, formKey)
    return pageOf(needs, actor, query, ofForm(read, actor, formId ?? 0, query))
  }
  const all = workspaceSubmissions(read, actor, query)
  return pageOf(needs, actor, query, {
    rows: all
      .innerJoin('forms', 'forms.id', 'submissions.form_id')
      .select(SUBMISSION_COLUMNS)
      .select('forms.form_key'),
    total: all.select((e) => e.fn.countAll<number>().as('total')),
  })
}

/** What a page is read from: no more of it than a page, and how many there are in all. */
interface Chosen {
  rows: SelectQueryBuilder<Tables, 'forms' | 'submissions', SubmissionRow>
  total: { executeTakeFirstOrThrow(): Promise<{ total: number }> }
}

function ofForm(db: Db, actor: Actor, formId: number, query: SubmissionListQueryInput): Chosen {
  const chosen = selectedSubmissions(db, actor, formId, query)
  return {
    rows: chosen.select(SUBMISSION_COLUMNS).select('forms.form_key'),
    total: chosen.select((e) => e.fn.countAll<number>().as('total')),
  }
}

async function pageOf(
  needs: SubmissionNeeds,
  actor: Actor,
  query: SubmissionListQueryInput,
  chosen: Chosen,
): Promise<Page> {
  const limit = query.limit ?? PAGE
  let page = chosen.rows
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
  const { total } = await chosen.total.executeTakeFirstOrThrow()
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return {
    data: rows.map(submissionResource),
    nextCursor: last ? encodeCursor({ order: ORDER, value: last.created_at, id: last.id }) : null,
    total: Number(total),
  }
}
