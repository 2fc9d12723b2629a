// Finds the link of a submission when its page has no snippet: the last link that the same visitor clicked in the
// half hour before. It runs just after the submission, so the sender does not wait for it.

import { sql } from 'kysely'
import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { prepareQuery } from '../../storage/database/prepare-query.ts'
import type { LastClick, LastClicksQuery } from '../../storage/hits/hit-engine.ts'
import {
  type AssignClicksNeeds,
  ATTRIBUTION_DUE,
  assignClicks,
  type ClickAssignment,
} from './assign-clicks.ts'

/** A visitor's id changes at midnight UTC, so a click before midnight is not found after it. */
export const INFER_WITHIN_MS = 30 * 60 * 1000
/** A reader of submissions waits at most this long. */
const READ_WAIT_MS = 2_000
/** One run of the job takes at most this long. The next run continues. */
const TURN_MS = 10_000
/**
 * After a failure, reads do not wait for this long. The job tries each second; its first success for the workspace
 * ends the failure, and reads wait again.
 */
const PAUSE_MS = 1_000
const PAGE = 500
/** A write of SQLite holds up the redirects: 500 statements take 50 ms, this many take 10 ms. */
const CLICKS_PER_WRITE = 50
/**
 * The clocks of two nodes may differ by this much. A submission waits until each other node has shipped its hits up to
 * this long after the submission.
 */
const CLOCK_TOLERANCE_MS = 250
/** Other nodes that are behind by more will hardly catch up while a reader waits: a heartbeat comes twice a second. */
const CATCH_UP_MS = 10_000
const CATCH_UP_CHECK_MS = 50
/** Represents the visitor of a submission without one. No hit has this visitor. */
const NOBODY = '0'
/**
 * The plus keeps the database off the indexes by time, which have every submission of the workspace: with 500,000 of them,
 * a query each second held the redirects up for 130 ms.
 */
const CREATED_AT = sql<number>`+created_at`

export interface ClickInferenceNeeds extends AssignClicksNeeds {
  hits: {
    /** Searches every hit that was recorded before the call. @throws Failure `unavailable` after `timeoutMs` */
    findLastClicks(query: LastClicksQuery, timeoutMs: number): Promise<(LastClick | null)[]>
  }
  /**
   * Every hit that other nodes recorded before this moment is found; milliseconds since the epoch. `Infinity` where no
   * other node can have hits.
   */
  getOthersShippedUntil(): number
  now: () => number
}

export interface ClickInference {
  /** Decides the workspace's due submissions, and waits at most two seconds for it. Undecided ones read `pending`. */
  resolvePendingAttribution(workspaceId: number): Promise<void>
  /** Decides the due submissions of all workspaces. Run it every second. It costs one query when nothing is due. */
  resolveAllPending(): Promise<void>
}

interface DueSubmission {
  id: number
  visitor: string | null
  created_at: number
}

/** Safe to run concurrently: both runs reach the same result, and the first write wins. */
export function createClickInference(needs: ClickInferenceNeeds): ClickInference {
  const state: InferenceState = { ...needs, degraded: false, failure: null }
  return {
    async resolvePendingAttribution(workspaceId) {
      const startedAt = performance.now()
      if (state.failure && startedAt - state.failure.at < PAUSE_MS) return
      const deadline = startedAt + READ_WAIT_MS
      await waitForOthers(state, workspaceId, deadline)
      await resolveWorkspace(state, workspaceId, deadline).catch((error) =>
        reportFailure(state, workspaceId, error),
      )
    },
    async resolveAllPending() {
      const deadline = performance.now() + TURN_MS
      for (let after = 0; performance.now() < deadline; ) {
        const workspaceId = await findNextDueWorkspace(state, after)
        if (workspaceId === undefined) return
        const unavailable = await resolveWorkspace(state, workspaceId, deadline).catch((error) =>
          reportFailure(state, workspaceId, error),
        )
        if (unavailable) return
        after = workspaceId
      }
    },
  }
}

interface InferenceState extends ClickInferenceNeeds {
  /** The last search failed because the hits were unavailable. */
  degraded: boolean
  /** The last failure that is not over; `at` is on the clock of `performance.now()`. */
  failure: { at: number; workspaceId: number } | null
}

async function resolveWorkspace(state: InferenceState, workspaceId: number, deadline: number): Promise<void> {
  while (performance.now() < deadline) {
    const due = await listDueSubmissions(state, workspaceId)
    if (due.length === 0) return
    const assignments = await findAssignments(state, workspaceId, due, deadline)
    for (let from = 0; from < assignments.length; from += CLICKS_PER_WRITE) {
      await assignClicks(state, workspaceId, assignments.slice(from, from + CLICKS_PER_WRITE))
    }
    if (due.length < PAGE) return
  }
}

async function findAssignments(
  state: InferenceState,
  workspaceId: number,
  due: DueSubmission[],
  deadline: number,
): Promise<ClickAssignment[]> {
  const moments = due.map(({ visitor, created_at }) => ({ visitor: visitor ?? NOBODY, at: created_at }))
  const timeoutMs = Math.max(1, deadline - performance.now())
  const query = { workspaceId, moments, withinMs: INFER_WITHIN_MS }
  const clicks = await state.hits.findLastClicks(query, timeoutMs)
  if (state.degraded) log.info('attribution_goes_on')
  state.degraded = false
  if (state.failure?.workspaceId === workspaceId) state.failure = null
  return groupByClick(due, clicks)
}

/**
 * Leaves the submissions due. Logs the start of an outage once, not every second.
 * @returns whether the hits are unavailable, so that other workspaces would fail too
 */
function reportFailure(state: InferenceState, workspaceId: number, error: unknown): boolean {
  const unavailable = error instanceof Failure && error.code === 'unavailable'
  state.failure = { at: performance.now(), workspaceId }
  if (unavailable && !state.degraded)
    log.warn('attribution_waits', describeError(error.detail.cause ?? error))
  if (!unavailable) log.error('attribution_failed', { workspace: workspaceId, ...describeError(error) })
  state.degraded ||= unavailable
  return unavailable
}

/** Groups submissions by click: many come from few clicks, and most from none. Each click then needs one statement. */
function groupByClick(due: DueSubmission[], clicks: (LastClick | null)[]): ClickAssignment[] {
  const assignments = new Map<string, ClickAssignment>()
  for (const [index, { id }] of due.entries()) {
    const click = clicks[index] ?? null
    const key = click ? `${click.node} ${click.id}` : ''
    const assignment = assignments.get(key)
    if (assignment) assignment.ids.push(id)
    else assignments.set(key, { click, ids: [id] })
  }
  return [...assignments.values()]
}

/** Finds every hit that could have led to a submission up to this moment, the recent ones of this node too. */
function getDecidableUntil({ getOthersShippedUntil, now }: InferenceState): number {
  const shippedUntil = getOthersShippedUntil()
  if (shippedUntil === Number.POSITIVE_INFINITY) return Number.MAX_SAFE_INTEGER
  return Math.min(shippedUntil, now()) - CLOCK_TOLERANCE_MS
}

/** Resolves when the due submissions of the workspace can be decided, and at once where that will take too long. */
async function waitForOthers(state: InferenceState, workspaceId: number, deadline: number): Promise<void> {
  if (getDecidableUntil(state) === Number.MAX_SAFE_INTEGER) return
  const newest = await findNewestDue(state.db, workspaceId)
  const isLate = () => newest !== null && getDecidableUntil(state) < newest
  const isHopeless = () => state.now() - getDecidableUntil(state) > CATCH_UP_MS
  while (isLate() && !isHopeless() && performance.now() < deadline) await Bun.sleep(CATCH_UP_CHECK_MS)
}

async function findNewestDue(db: Database, workspaceId: number): Promise<number | null> {
  const row = await db.read
    .selectFrom('submissions')
    .select(sql<number | null>`max(${CREATED_AT})`.as('at'))
    .where('workspace_id', '=', workspaceId)
    .where(ATTRIBUTION_DUE)
    .executeTakeFirst()
  return row?.at ?? null
}

interface DueQuery extends Record<string, unknown> {
  after: number
  until: number
}

async function findNextDueWorkspace(state: InferenceState, after: number): Promise<number | undefined> {
  const [row] = await selectNextDueWorkspace(state.db.read, { after, until: getDecidableUntil(state) })
  return row?.workspace_id
}

const selectNextDueWorkspace = prepareQuery((connection, { after, until }: DueQuery) =>
  connection
    .selectFrom('submissions')
    .select('workspace_id')
    .where('workspace_id', '>', after)
    .where(CREATED_AT, '<=', until)
    .where(ATTRIBUTION_DUE)
    .orderBy('workspace_id')
    .limit(sql.lit(1)),
)

const listDueSubmissions = (state: InferenceState, workspaceId: number): Promise<DueSubmission[]> =>
  selectDueSubmissions(state.db.read, { workspaceId, until: getDecidableUntil(state) })

const selectDueSubmissions = prepareQuery(
  (connection, { workspaceId, until }: { workspaceId: number; until: number }) =>
    connection
      .selectFrom('submissions')
      .select(['id', 'visitor', 'created_at'])
      .where('workspace_id', '=', workspaceId)
      .where(CREATED_AT, '<=', until)
      .where(ATTRIBUTION_DUE)
      .orderBy('id')
      .limit(sql.lit(PAGE)),
)
