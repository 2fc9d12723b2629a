// Which link brought a submission whose page had no snippet: the one that the same visitor clicked last in the half
// hour before. Decided just after the submission, so that no sender ever waits for it.

import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import type { LastClick, LastClicksQuery } from '../../storage/hits/engine.ts'
import type { Rows } from '../../storage/rows/open.ts'
import type { ClickIds } from '../hits/click-id.ts'
import type { LinkCache } from '../links/cache.ts'
import { type Decision, decide, STILL_DUE } from './decide.ts'

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

export interface AttributionNeeds {
  rows: Rows
  hits: {
    /** Of everything recorded before it is asked. @throws `unavailable` when that is not known within `timeoutMs` */
    lastClicks(query: LastClicksQuery, timeoutMs: number): Promise<(LastClick | null)[]>
  }
  clickIds: Pick<ClickIds, 'write'>
  cache: Pick<LinkCache, 'forget'>
}

export interface Attribution {
  /** Decides what is due in a workspace, so that what is read next is decided. Waits two seconds and no longer. */
  settleAttribution(workspaceId: number): Promise<void>
  /** The same for all workspaces; to be run every second. One look-up when nothing is due. */
  settleAll(): Promise<void>
}

interface Due {
  id: number
  visitor: string | null
  created_at: number
}

/** Two that decide the same submission come to the same, and the first one's word stands. */
export function openAttribution(needs: AttributionNeeds): Attribution {
  const { rows, hits } = needs
  let troubled = false
  let failedAt = Number.NEGATIVE_INFINITY

  async function settle(workspaceId: number, deadline: number): Promise<void> {
    while (performance.now() < deadline) {
      const due = await dueIn(rows, workspaceId)
      if (due.length === 0) return
      const decisions = await newestClicks(workspaceId, due, deadline)
      for (let from = 0; from < decisions.length; from += CLICKS_PER_WRITE) {
        await decide(needs, workspaceId, decisions.slice(from, from + CLICKS_PER_WRITE))
      }
      if (due.length < PAGE) return
    }
  }

  async function newestClicks(workspaceId: number, due: Due[], deadline: number): Promise<Decision[]> {
    const moments = due.map(({ visitor, created_at }) => ({ visitor: visitor ?? NOBODY, at: created_at }))
    const timeoutMs = Math.max(1, deadline - performance.now())
    const clicks = await hits.lastClicks({ workspaceId, moments, withinMs: INFER_WITHIN_MS }, timeoutMs)
    if (troubled) log.info('attribution_goes_on')
    troubled = false
    return byClick(due, clicks)
  }

  /** What cannot be decided now stays due. Said once, not every second. @returns whether others would fare no better */
  function failed(workspaceId: number, error: unknown): boolean {
    const away = error instanceof Failure && error.code === 'unavailable'
    failedAt = performance.now()
    if (away && !troubled) log.warn('attribution_waits', describeError(error.detail.cause ?? error))
    if (!away) log.error('attribution_failed', { workspace: workspaceId, ...describeError(error) })
    troubled ||= away
    return away
  }

  return {
    async settleAttribution(workspaceId) {
      const began = performance.now()
      if (began - failedAt < PAUSE_MS) return
      await settle(workspaceId, began + READ_WAIT_MS).catch((error) => failed(workspaceId, error))
    },
    async settleAll() {
      const deadline = performance.now() + TURN_MS
      for (let after = 0; performance.now() < deadline; ) {
        const workspaceId = await nextWithDue(rows, after)
        if (workspaceId === undefined) return
        const stop = await settle(workspaceId, deadline).catch((error) => failed(workspaceId, error))
        if (stop) return
        after = workspaceId
      }
    },
  }
}

/** Many submissions come from few clicks, and most from none: a statement for each click, not for each submission. */
function byClick(due: Due[], clicks: (LastClick | null)[]): Decision[] {
  const decisions = new Map<string, Decision>()
  for (const [index, { id }] of due.entries()) {
    const click = clicks[index] ?? null
    const key = click ? `${click.node} ${click.id}` : ''
    const decision = decisions.get(key)
    if (decision) decision.ids.push(id)
    else decisions.set(key, { click, ids: [id] })
  }
  return [...decisions.values()]
}

async function nextWithDue(rows: Rows, after: number): Promise<number | undefined> {
  const found = await rows.read
    .selectFrom('submissions')
    .select('workspace_id')
    .where('workspace_id', '>', after)
    .where(STILL_DUE)
    .orderBy('workspace_id')
    .limit(1)
    .executeTakeFirst()
  return found?.workspace_id
}

const dueIn = (rows: Rows, workspaceId: number): Promise<Due[]> =>
  rows.read
    .selectFrom('submissions')
    .select(['id', 'visitor', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where(STILL_DUE)
    .orderBy('id')
    .limit(PAGE)
    .execute()
