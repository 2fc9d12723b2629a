// Runs the jobs of views that are due, such as reports: one view after another. A view that fails is tried again later.

import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { LeadContext } from '../analytics/answer-leads.ts'
import type { ViewRow } from './view.ts'

export interface ViewJobNeeds extends LeadContext {
  db: Database
  origin: string
  wakeDeliverer: () => void
}

interface DueJob {
  /** The column with the moment when the job is due. */
  column: 'report_due_at' | 'alert_due_at'
  /** The event of the log. */
  failure: string
  /** The rows of what was sent, and how long they stay. */
  sent: 'view_reports' | 'view_alerts'
  keptMs: number
  run(view: ViewRow): Promise<void>
}

const VIEWS_AT_ONCE = 50
/** A view whose figures cannot be counted now is tried again after this time. */
const RETRY_MS = 5 * 60_000
/** One whose filters mean nothing any more, such as a parameter that is no longer kept, waits for a person. */
const RETRY_WRONG_MS = 6 * 60 * 60_000

export async function runDueViews(needs: ViewJobNeeds, job: DueJob): Promise<void> {
  for (let found = VIEWS_AT_ONCE; found === VIEWS_AT_ONCE; ) {
    const views = await listDueViews(needs, job)
    for (const view of views) {
      await takeTurn()
      await job.run(view).catch(async (error) => {
        log.error(job.failure, { view: view.id, workspace: view.workspace_id, ...describeError(error) })
        const isWrong = error instanceof Failure && error.code === 'invalid'
        await postpone(needs, view, job, isWrong ? RETRY_WRONG_MS : RETRY_MS)
      })
    }
    found = views.length
  }
  await pruneSent(needs, job)
}

function listDueViews({ db, now }: ViewJobNeeds, { column }: DueJob): Promise<ViewRow[]> {
  return db.read
    .selectFrom('views')
    .innerJoin('workspaces', 'workspaces.id', 'views.workspace_id')
    .selectAll('views')
    .where(`views.${column}`, '<=', now())
    .where('workspaces.suspended_at', 'is', null)
    .orderBy(`views.${column}`)
    .limit(VIEWS_AT_ONCE)
    .execute()
}

function pruneSent({ db, now }: ViewJobNeeds, { sent, keptMs }: DueJob) {
  return db.write((connection) =>
    connection
      .deleteFrom(sent)
      .where('created_at', '<', now() - keptMs)
      .execute(),
  )
}

function postpone({ db, now }: ViewJobNeeds, view: ViewRow, { column }: DueJob, ms: number) {
  return db.write((connection) => setDue(connection, view, column, now() + ms))
}

/** Leaves a schedule alone that somebody has changed since. */
export function setDue(
  connection: Connection,
  view: ViewRow,
  column: DueJob['column'],
  at: number,
  more: Partial<Pick<ViewRow, 'alert_links_until'>> = {},
) {
  return connection
    .updateTable('views')
    .set({ [column]: at, ...more })
    .where('workspace_id', '=', view.workspace_id)
    .where('id', '=', view.id)
    .where(column, '=', view[column])
    .execute()
}
