// Sends the reports that are due: counts each, and stores it with its deliveries in one transaction. A unique row for the
// view and the period lets one node win, however many run.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { enqueueReport } from '../../notify/outbox/enqueue-report.ts'
import type { FigureNeeds } from '../count-view.ts'
import { findDuePeriod, findNextDue } from '../report-schedule.ts'
import type { ReportSettings } from '../schema.ts'
import type { ViewRow } from '../view.ts'
import { countReport } from './count-report.ts'

export interface ViewReportNeeds extends FigureNeeds {
  db: Database
  origin: string
  wakeDeliverer: () => void
}

const VIEWS_AT_ONCE = 50
/** A view whose figures cannot be counted now is tried again after this time. */
const RETRY_MS = 5 * 60_000
const KEPT_MS = 400 * 86_400_000

export async function sendDueReports(needs: ViewReportNeeds): Promise<void> {
  for (let found = VIEWS_AT_ONCE; found === VIEWS_AT_ONCE; ) {
    const views = await listDueViews(needs)
    for (const view of views) {
      await takeTurn()
      await sendReport(needs, view).catch(async (error) => {
        log.error('report_failed', { view: view.id, workspace: view.workspace_id, ...describeError(error) })
        await postpone(needs, view)
      })
    }
    found = views.length
  }
  await pruneReports(needs)
}

function listDueViews({ db, now }: ViewReportNeeds): Promise<ViewRow[]> {
  return db.read
    .selectFrom('views')
    .innerJoin('workspaces', 'workspaces.id', 'views.workspace_id')
    .selectAll('views')
    .where('views.report_due_at', '<=', now())
    .where('workspaces.suspended_at', 'is', null)
    .orderBy('views.report_due_at')
    .limit(VIEWS_AT_ONCE)
    .execute()
}

async function sendReport(needs: ViewReportNeeds, view: ViewRow): Promise<void> {
  const settings: ReportSettings = JSON.parse(view.report ?? 'null')
  const due = findDuePeriod(settings, view.timezone, needs.now())
  const content = await countReport(needs, view, due)
  await needs.db.write(async (connection, onCommit) => {
    const at = needs.now()
    const isNew = await enqueueReport(connection, {
      workspaceId: view.workspace_id,
      viewId: view.id,
      channelIds: settings.channelIds,
      periodStart: due.period.start,
      content: JSON.stringify(content),
      at,
    })
    await setDue(connection, view, findNextDue(settings, view.timezone, at))
    if (isNew) onCommit(needs.wakeDeliverer)
  })
}

function postpone({ db, now }: ViewReportNeeds, view: ViewRow) {
  return db.write((connection) => setDue(connection, view, now() + RETRY_MS))
}

/** Leaves a schedule alone that somebody has changed since. */
function setDue(connection: Connection, view: ViewRow, at: number) {
  return connection
    .updateTable('views')
    .set({ report_due_at: at })
    .where('workspace_id', '=', view.workspace_id)
    .where('id', '=', view.id)
    .where('report_due_at', '=', view.report_due_at)
    .execute()
}

function pruneReports({ db, now }: ViewReportNeeds) {
  return db.write((connection) =>
    connection
      .deleteFrom('view_reports')
      .where('created_at', '<', now() - KEPT_MS)
      .execute(),
  )
}
