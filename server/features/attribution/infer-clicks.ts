// Which link brought a submission whose page had no snippet: the one that the same visitor clicked last in the half
// hour before. Decided just after the submission, so that no sender ever waits for it.

import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { LastClick, LastClicksQuery } from '../../storage/hits/hit-engine.ts'
import type { ClickIds } from '../hits/click-id.ts'
import type { LinkCache } from '../links/cache.ts'
import { ATTRIBUTION_DUE, assignClicks, type ClickAssignment } from './assign-clicks.ts'

/** A visitor's id ends with their UTC day: a click of before midnight is not found after it. */
export const INFER_WITHIN_MS = 30 * 60 * 1000
/** What somebody who reads submissions waits at most. */
const READ_WAIT_MS = 2_000
/** A turn of the job; the next goes on where it ended. */
const TURN_MS = 10_000
/** After a failure reads do not wait for another: the job, which tries each second, says when it is over. */
const PAUSE_MS = 1_000
const PAGE = 500
/** A write of SQLite holds up the redirects: 500 statements for 50 ms, these for 10. */
const CLICKS_PER_WRITE = 50
/** A submission without a visitor: no hit is made of an empty id. */
const NOBODY = '0'

export interface ClickInferenceNeeds {
  db: Database
  hits: {
    /** Of everything recorded before it is asked. @throws `unavailable` when that is not known within `timeoutMs` */
    findLastClicks(query: LastClicksQuery, timeoutMs: number): Promise<(LastClick | null)[]>
  }
  clickIds: Pick<ClickIds, 'sign'>
  cache: Pick<LinkCache, 'invalidate'>
}

export interface ClickInference {
  /** Decides what is due in a workspace, within two seconds; what is undecided then reads `pending`. */
  resolvePendingAttribution(workspaceId: number): Promise<void>
  /** The same for all workspaces; to be run every second. One look-up when nothing is due. */
  resolveAllPending(): Promise<void>
}

interface DueSubmission {
  id: number
  visitor: string | null
  created_at: number
}

/** Two that decide the same submission come to the same, and the first one's word stands. */
export function createClickInference(needs: ClickInferenceNeeds): ClickInference {
  const { db, hits } = needs
  let degraded = false
  let failedAt = Number.NEGATIVE_INFINITY

  async function settle(workspaceId: number, deadline: number): Promise<void> {
    while (performance.now() < deadline) {
      const due = await listDueSubmissions(db, workspaceId)
      if (due.length === 0) return
      const decisions = await newestClicks(workspaceId, due, deadline)
      for (let from = 0; from < decisions.length; from += CLICKS_PER_WRITE) {
        await assignClicks(needs, workspaceId, decisions.slice(from, from + CLICKS_PER_WRITE))
      }
      if (due.length < PAGE) return
    }
  }

  async function newestClicks(
    workspaceId: number,
    due: DueSubmission[],
    deadline: number,
  ): Promise<ClickAssignment[]> {
    const moments = due.map(({ visitor, created_at }) => ({ visitor: visitor ?? NOBODY, at: created_at }))
    const timeoutMs = Math.max(1, deadline - performance.now())
    const clicks = await hits.findLastClicks({ workspaceId, moments, withinMs: INFER_WITHIN_MS }, timeoutMs)
    if (degraded) log.info('attribution_goes_on')
    degraded = false
    return groupByClick(due, clicks)
  }

  /** What cannot be decided now stays due. Said once, not every second. @returns whether others would fare no better */
  function failed(workspaceId: number, error: unknown): boolean {
    const away = error instanceof Failure && error.code === 'unavailable'
    failedAt = performance.now()
    if (away && !degraded) log.warn('attribution_waits', describeError(error.detail.cause ?? error))
    if (!away) log.error('attribution_failed', { workspace: workspaceId, ...describeError(error) })
    degraded ||= away
    return away
  }

  return {
    async resolvePendingAttribution(workspaceId) {
      const began = performance.now()
      if (began - failedAt < PAUSE_MS) return
      await settle(workspaceId, began + READ_WAIT_MS).catch((error) => failed(workspaceId, error))
    },
    async resolveAllPending() {
      const deadline = performance.now() + TURN_MS
      for (let after = 0; performance.now() < deadline; ) {
        const workspaceId = await findNextDueWorkspace(db, after)
        if (workspaceId === undefined) return
        const stop = await settle(workspaceId, deadline).catch((error) => failed(workspaceId, error))
        if (stop) return
        after = workspaceId
      }
    },
  }
}

/** Many submissions come from few clicks, and most from none: a statement for each click, not for each submission. */
function groupByClick(due: DueSubmission[], clicks: (LastClick | null)[]): ClickAssignment[] {
  const decisions = new Map<string, ClickAssignment>()
  for (const [index, { id }] of due.entries()) {
    const click = clicks[index] ?? null
    const key = click ? `${click.node} ${click.id}` : ''
    const decision = decisions.get(key)
    if (decision) decision.ids.push(id)
    else decisions.set(key, { click, ids: [id] })
  }
  return [...decisions.values()]
}

async function findNextDueWorkspace(db: Database, after: number): Promise<number | undefined> {
  const found = await db.read
    .selectFrom('submissions')
    .select('workspace_id')
    .where('workspace_id', '>', after)
    .where(ATTRIBUTION_DUE)
    .orderBy('workspace_id')
    .limit(1)
    .executeTakeFirst()
  return found?.workspace_id
}

const listDueSubmissions = (db: Database, workspaceId: number): Promise<DueSubmission[]> =>
  db.read
    .selectFrom('submissions')
    .select(['id', 'visitor', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where(ATTRIBUTION_DUE)
    .orderBy('id')
    .limit(PAGE)
    .execute()
