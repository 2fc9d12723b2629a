// Sends the reports that are due: counts each, and stores it with its deliveries in one transaction. A unique row for the
// view and the period lets one node win, however many run.

import { DAY_MS } from '../../../lib/utc-day.ts'
import { enqueueReport } from '../../notify/outbox/enqueue-view.ts'
import { runDueViews, setDue, type ViewJobNeeds } from '../due-views.ts'
import { findDuePeriod, findNextDue } from '../report-schedule.ts'
import type { ReportSettings } from '../schema.ts'
import type { ViewRow } from '../view.ts'
import { countReport } from './count-report.ts'

export async function sendDueReports(needs: ViewJobNeeds): Promise<void> {
  const run = (view: ViewRow) => sendReport(needs, view)
  await runDueViews(needs, {
    column: 'report_due_at',
    failure: 'report_failed',
    sent: 'view_reports',
    keptMs: 400 * DAY_MS,
    run,
  })
}

async function sendReport(needs: ViewJobNeeds, view: ViewRow): Promise<void> {
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
    await setDue(connection, view, 'report_due_at', findNextDue(settings, view.timezone, at))
    if (isNew) onCommit(needs.wakeDeliverer)
  })
}
