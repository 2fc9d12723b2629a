// Lists the submissions of one form or of all forms, newest first, one page at a time.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { cutPage, fitPage, orderByCreation, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { findFormId, getFormId } from '../settings/form.ts'
import { scanSubmissionPage } from './scan-submission-page.ts'
import {
  isAfterPosition,
  isFilteredByIndex,
  POSITION_COLUMNS,
  readSubmissions,
  type SizedPosition,
  type SubmissionScope,
  selectScope,
} from './scan-submissions.ts'
import type { AllSubmissionsQueryInput, SubmissionListQueryInput, SubmissionResource } from './schema.ts'
import { readWithAttribution, type SubmissionNeeds, toSubmissionResource } from './submission.ts'

const ORDER = orderByCreation('submissions createdAt desc')

type SubmissionPage = Page<SubmissionResource>

/** @throws Failure `not_found`, `invalid` for a wrong cursor */
export async function listSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  formKey: string,
  query: SubmissionListQueryInput,
  signal?: AbortSignal,
): Promise<SubmissionPage> {
  const formId = await getFormId(needs.db.read, actor, formKey)
  return readSubmissionPage({ needs, actor, formId }, query, signal)
}

/**
 * Lists submissions of every form of the workspace. An unknown `formKey` has none.
 * @throws Failure `invalid` for a wrong cursor
 */
export async function listAllSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  { formKey, ...query }: AllSubmissionsQueryInput,
  signal?: AbortSignal,
): Promise<SubmissionPage> {
  if (formKey === undefined) return readSubmissionPage({ needs, actor }, query, signal)
  const formId = (await findFormId(needs.db.read, actor, formKey)) ?? 0
  return readSubmissionPage({ needs, actor, formId }, query, signal)
}

async function readSubmissionPage(
  whole: Omit<SubmissionScope, 'by'>,
  { limit: limitInput, cursor, ...by }: SubmissionListQueryInput,
  signal?: AbortSignal,
): Promise<SubmissionPage> {
  const scope = { ...whole, by }
  const { limit, after } = readPageQuery({ limit: limitInput, cursor }, ORDER)
  const position = after && { created_at: after.value, id: after.id }
  const isScanned = scope.needs.db.engine === 'sqlite' && !isFilteredByIndex(scope)
  const find = isScanned ? scanSubmissionPage : queryPage
  let page = { positions: [] as SizedPosition[], total: 0 }
  let nextCursor: string | null = null
  const rows = await readWithAttribution(scope.needs, scope.actor, async () => {
    page = await find(scope, { limit: limit + 1, after: position, signal })
    const cut = cutPage(page.positions, fitPage(page.positions, limit), ORDER)
    nextCursor = cut.nextCursor
    return readSubmissions(scope, cut.rows)
  })
  const data: SubmissionResource[] = []
  for (const row of rows) {
    await takeTurn()
    data.push(toSubmissionResource(scope.needs, row))
  }
  return { data, nextCursor, total: page.total }
}

/** For filters that the index answers. PostgreSQL answers any filter, because it runs in other processes. */
const queryPage: typeof scanSubmissionPage = async (scope, { limit, after }) => {
  const selected = selectScope(scope)
  let page = selected.select(POSITION_COLUMNS)
  if (after) page = page.where(isAfterPosition('desc', after))
  const positions = await page
    .orderBy('submissions.created_at', 'desc')
    .orderBy('submissions.id', 'desc')
    .limit(limit)
    .execute()
  const { total } = await selected
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { positions, total: Number(total) }
}
