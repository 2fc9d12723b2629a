// Finds a page of submissions by filters that no index answers, and counts all that pass. It gives the event loop back
// between two steps.

import { sql } from 'kysely'
import { cutIntoSteps, takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { PlaceRange } from '../../../lib/pagination.ts'
import {
  filterStep,
  isAfterPosition,
  POSITION_COLUMNS,
  type SizedPosition,
  STEP_BYTES,
  type SubmissionPosition,
  type SubmissionScope,
  selectScope,
} from './scan-submissions.ts'

/** A statement counts these at once: a few milliseconds of the event loop. Longer rows are searched in smaller steps. */
const RANGE_ROWS = 500
const RANGE_BYTES = 512 * 1024

type Range = PlaceRange<SubmissionPosition>

interface PageSearch {
  after: SubmissionPosition | undefined
  limit: number
  /** Ends the scan early when the caller is gone. */
  signal?: AbortSignal
}

interface FoundPage {
  positions: SizedPosition[]
  total: number
}

/** @returns the first `limit` submissions after the position, newest first, and the number of all */
export async function scanSubmissionPage(scope: SubmissionScope, search: PageSearch): Promise<FoundPage> {
  const page: FoundPage = { positions: [], total: 0 }
  for await (const range of listRanges(scope)) {
    if (search.signal?.aborted) break
    await takeTurn()
    const { bytes } = await selectRange(withoutFilters(scope), range)
      .select(sql<number>`sum(octet_length(submissions.fields))`.as('bytes'))
      .executeTakeFirstOrThrow()
    const { positions, total } = await (Number(bytes) > RANGE_BYTES ? searchInSteps : searchAtOnce)(
      scope,
      { ...search, limit: search.limit - page.positions.length },
      range,
    )
    page.positions.push(...positions)
    page.total += total
  }
  return page
}

/** Reads the missing rows of the page. Reading the positions of all matches would take as long as finding them. */
async function searchAtOnce(
  scope: SubmissionScope,
  { after, limit }: PageSearch,
  range: Range,
): Promise<FoundPage> {
  await takeTurn()
  const matches = selectRange(scope, range)
  const { total } = await matches.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  if (total === 0 || limit === 0) return { positions: [], total }
  const rest = after ? matches.where(isAfterPosition('desc', after)) : matches
  return { positions: await inOrder(rest).limit(limit).execute(), total }
}

async function searchInSteps(
  scope: SubmissionScope,
  { after, limit, signal }: PageSearch,
  range: Range,
): Promise<FoundPage> {
  const positions: SizedPosition[] = []
  let total = 0
  const all = await inOrder(selectRange(withoutFilters(scope), range)).execute()
  for (const step of cutIntoSteps(all, STEP_BYTES)) {
    if (signal?.aborted) break
    const matches = await filterStep(scope, step)
    total += matches.length
    positions.push(...matches.filter((match) => isOlder(match, after)))
    positions.splice(limit)
  }
  return { positions, total }
}

const isOlder = (match: SubmissionPosition, after: SubmissionPosition | undefined) =>
  after === undefined ||
  match.created_at < after.created_at ||
  (match.created_at === after.created_at && match.id < after.id)

/** With the status alone, which the index of the order has. */
const withoutFilters = (scope: SubmissionScope): SubmissionScope => {
  const { start, end, status } = scope.by
  return { ...scope, by: { start, end, status } }
}

const inOrder = (submissions: ReturnType<typeof selectScope>) =>
  submissions
    .select(POSITION_COLUMNS)
    .orderBy('submissions.created_at', 'desc')
    .orderBy('submissions.id', 'desc')

async function* listRanges(scope: SubmissionScope): AsyncGenerator<Range> {
  for (let from: SubmissionPosition | undefined; ; ) {
    await takeTurn()
    const places = selectRange(withoutFilters(scope), { from, before: undefined })
    const before = await places
      .select(['submissions.id', 'submissions.created_at'])
      .orderBy('submissions.created_at', 'desc')
      .orderBy('submissions.id', 'desc')
      .offset(RANGE_ROWS)
      .limit(1)
      .executeTakeFirst()
    yield { from, before }
    if (!before) return
    from = before
  }
}

/** The places are between start and end already. With both conditions, SQLite would read from the start in each step. */
function selectRange(scope: SubmissionScope, { from, before }: Range) {
  const { start, end, ...by } = scope.by
  let selected = selectScope({
    ...scope,
    by: { ...by, ...(from ? {} : { end }), ...(before ? {} : { start }) },
  })
  const place = sql`(submissions.created_at, submissions.id)`
  if (from) selected = selected.where(sql<boolean>`${place} <= (${from.created_at}, ${from.id})`)
  if (before) selected = selected.where(sql<boolean>`${place} > (${before.created_at}, ${before.id})`)
  return selected
}
