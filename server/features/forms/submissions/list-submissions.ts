// Lists the submissions of one form or of all forms, newest first, one page at a time.

import { type SelectQueryBuilder, sql } from 'kysely'
import { cutPage, orderByCreation, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { AllSubmissionsQueryInput, SubmissionListQueryInput, SubmissionResource } from '../schema.ts'
import { findFormId, getFormId } from '../settings/get-form.ts'
import {
  readWithAttribution,
  SUBMISSION_COLUMNS,
  type SubmissionNeeds,
  type SubmissionRow,
  selectFormSubmissions,
  selectWorkspaceSubmissions,
  toSubmissionResource,
} from './submission.ts'

const ORDER = orderByCreation('submissions createdAt desc')

type SubmissionPage = Page<SubmissionResource>

/** @throws Failure `not_found`, `invalid` for a wrong cursor */
export async function listSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  formKey: string,
  query: SubmissionListQueryInput,
): Promise<SubmissionPage> {
  const { read } = needs.db
  const formId = await getFormId(read, actor, formKey)
  return readSubmissionPage(needs, actor, query, selectFormPage(needs.db, actor, formId, query))
}

/**
 * Lists submissions of every form of the workspace. An unknown `formKey` has none.
 * @throws Failure `invalid` for a wrong cursor
 */
export async function listAllSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  { formKey, ...query }: AllSubmissionsQueryInput,
): Promise<SubmissionPage> {
  const { read } = needs.db
  if (formKey !== undefined) {
    const formId = await findFormId(read, actor, formKey)
    return readSubmissionPage(needs, actor, query, selectFormPage(needs.db, actor, formId ?? 0, query))
  }
  const all = selectWorkspaceSubmissions(needs.db, actor, query)
  return readSubmissionPage(needs, actor, query, {
    rows: all
      .innerJoin('forms', 'forms.id', 'submissions.form_id')
      .select(SUBMISSION_COLUMNS)
      .select('forms.form_key'),
    total: all.select((e) => e.fn.countAll<number>().as('total')),
  })
}

/** The query of a page without its limit, and the query of the total. */
interface PageSource {
  rows: SelectQueryBuilder<Tables, 'forms' | 'submissions', SubmissionRow>
  total: { executeTakeFirstOrThrow(): Promise<{ total: number }> }
}

function selectFormPage(
  db: Database,
  actor: Actor,
  formId: number,
  query: SubmissionListQueryInput,
): PageSource {
  const selected = selectFormSubmissions(db, actor, formId, query)
  return {
    rows: selected.select(SUBMISSION_COLUMNS).select('forms.form_key'),
    total: selected.select((e) => e.fn.countAll<number>().as('total')),
  }
}

async function readSubmissionPage(
  needs: SubmissionNeeds,
  actor: Actor,
  query: SubmissionListQueryInput,
  source: PageSource,
): Promise<SubmissionPage> {
  const { limit, after } = readPageQuery(query, ORDER)
  let page = source.rows
  if (after)
    page = page.where(sql<boolean>`(submissions.created_at, submissions.id) < (${after.value}, ${after.id})`)
  const newestFirst = page
    .orderBy('submissions.created_at', 'desc')
    .orderBy('submissions.id', 'desc')
    .limit(limit + 1)
  const found = await readWithAttribution(needs, actor, () => newestFirst.execute())
  const { total } = await source.total.executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map(toSubmissionResource), nextCursor, total: Number(total) }
}
