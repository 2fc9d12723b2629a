// The figures of an alert: those that the dashboard shows for the same hours. Says whether they are worth a message.

import type { LeadContext } from '../../analytics/answer-leads.ts'
import type { AlertContent } from '../../notify/channels/contract.ts'
import { formatGrowth } from '../../notify/channels/report-body.ts'
import { type findAlertHours, findExpected, formatWindow, HOURS } from '../alert-schedule.ts'
import { formatFigure } from '../chart.ts'
import { countMetric } from '../count-view.ts'
import { describeRange } from '../describe-range.ts'
import type { DifferenceAlert } from '../schema.ts'
import { toViewSettings, type ViewRow } from '../view.ts'
import { toViewSelection, withRange } from '../view-selection.ts'

/**
 * @returns null where the hours are as expected, or no earlier week has figures
 * @throws Failure `unavailable` when something cannot be counted now
 */
export async function countAlert(
  needs: LeadContext & { origin: string },
  view: ViewRow,
  alert: DifferenceAlert,
  { hours, earlier }: ReturnType<typeof findAlertHours>,
): Promise<AlertContent | null> {
  const { metric, when, percent, window, minimum } = alert
  const selection = toViewSelection(toViewSettings(view))
  const count = async (range: typeof hours) =>
    (await countMetric(needs, { workspaceId: view.workspace_id }, withRange(selection, range), metric)) ?? 0
  const current = await count(hours)
  // Most hours end here: they need no look at earlier weeks.
  if (when === 'above' && current < minimum) return null
  const expected = findExpected(await Promise.all(earlier.map(count)))
  if (expected === null || !isUnusual(alert, current, expected)) return null
  return {
    viewId: view.id,
    ...describeRange(needs, view, hours, HOURS),
    metric,
    when,
    percent,
    window,
    minimum,
    count: current,
    expected,
    reason: formatReason(alert, current, expected),
  }
}

function isUnusual({ when, percent, minimum }: DifferenceAlert, count: number, expected: number): boolean {
  // Multiplied, so that whole percentages stay exact.
  if (when === 'above') return count * 100 >= expected * (100 + percent)
  return expected >= minimum && count * 100 <= expected * (100 - percent)
}

function formatReason({ metric, window }: DifferenceAlert, count: number, expected: number): string {
  const noun = count === 1 ? metric.slice(0, -1) : metric
  const hours = window === '1h' ? 'hour' : 'hours'
  return `${formatFigure(count)} ${noun} in the last ${formatWindow(window)}, ${formatFigure(expected)} in the same ${hours} of earlier weeks (${formatGrowth(count, expected)})`
}
