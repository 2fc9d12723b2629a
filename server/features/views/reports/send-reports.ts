// Sends the reports that are due: counts each, and stores it with its deliveries in one transaction. A unique row for the
// view and the period lets one node win, however many run.

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { TimeRange } from '../../analytics/timeline.ts'
import type { ReportContent } from '../../notify/channels/contract.ts'
import { enqueueReport } from '../../notify/outbox/enqueue-view.ts'
import { createBucketFormatter } from '../chart.ts'
import { countTime, countTop, countTotals } from '../count-view.ts'
import { describeRange } from '../describe-range.ts'
import { runDueViews, setDue, type ViewJobNeeds } from '../due-views.ts'
import { FIGURE_LABELS, FIGURE_METRICS } from '../figure-metrics.ts'
import { findDuePeriod, findNextDue } from '../report-schedule.ts'
import type { ReportSettings } from '../schema.ts'
import { toViewSettings, type ViewRow } from '../view.ts'
import { toViewSelection, withRange } from '../view-selection.ts'

const ROWS = 5
const LISTS = [
  ['linkId', 'Top links'],
  ['source', 'Sources'],
  ['country', 'Countries'],
] as const

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

/**
 * Counts what the dashboard shows for the same range.
 * @throws Failure `unavailable` when something cannot be counted now
 */
async function countReport(
  needs: ViewJobNeeds,
  view: ViewRow,
  { period, before }: { period: TimeRange; before: TimeRange },
): Promise<ReportContent> {
  const scope = { workspaceId: view.workspace_id }
  const settings = toViewSettings(view)
  const selection = toViewSelection(settings)
  const now = withRange(selection, period)
  const metric = selection.clicks ? 'clicks' : 'leads'
  const [totals, earlier, time, ...lists] = await Promise.all([
    countTotals(needs, scope, now),
    countTotals(needs, scope, withRange(selection, before)),
    countTime(needs, scope, now, metric),
    ...LISTS.map(([dimension]) => countTop(needs, scope, now, { metric, dimension, limit: ROWS })),
  ])
  const format = createBucketFormatter(time, view.timezone)
  return {
    workspaceId: view.workspace_id,
    ...describeRange(needs, view, period, { dateStyle: 'medium' }),
    totals: FIGURE_METRICS.flatMap((name) => {
      const count = totals[name]
      return count === null ? [] : [{ label: FIGURE_LABELS[name], count, before: earlier[name] ?? 0 }]
    }),
    time: time.map(({ at, count }) => ({ label: format(at), count })),
    lists: LISTS.map(([, title], i) => ({
      title,
      rows: (lists[i] ?? []).map(({ label, count }) => ({ label, count })),
    })),
  }
}
