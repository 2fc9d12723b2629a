// The figures of a report: those that the dashboard shows for the same range.

import type { LeadContext } from '../../analytics/answer-leads.ts'
import type { TimeRange } from '../../analytics/timeline.ts'
import type { ReportContent } from '../../notify/channels/contract.ts'
import { createBucketFormatter } from '../chart.ts'
import { countTime, countTop, countTotals } from '../count-view.ts'
import { describeRange } from '../describe-range.ts'
import { FIGURE_LABELS, FIGURE_METRICS } from '../figure-metrics.ts'
import { toViewSettings, type ViewRow } from '../view.ts'
import { toViewSelection, withRange } from '../view-selection.ts'

const ROWS = 5
const LISTS = [
  ['linkId', 'Top links'],
  ['source', 'Sources'],
  ['country', 'Countries'],
] as const

/** @throws Failure `unavailable` when something cannot be counted now */
export async function countReport(
  needs: LeadContext & { origin: string },
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
