// The range of a message about a view: its texts, and the address of the analytics page that shows it.

import type { TimeRange } from '../analytics/timeline.ts'
import { toViewSettings, type ViewRow } from './view.ts'

/** @param style of the period: of days, or of hours such as `Nov 27, 2026, 9:00 – 10:00 AM` */
export function describeRange(
  { origin }: { origin: string },
  view: ViewRow,
  { start, end }: TimeRange,
  style: Pick<Intl.DateTimeFormatOptions, 'dateStyle' | 'timeStyle'>,
) {
  const { name, timezone } = view
  const period = new Intl.DateTimeFormat('en', { timeZone: timezone, ...style })
  return {
    name,
    url: toDashboardUrl(origin, view, { start, end }),
    timezone,
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    // The last day is the one before the end.
    period: period.formatRange(start, style.timeStyle ? end : end - 1),
  }
}

/** With the filters of the view and the days of the range. */
function toDashboardUrl(origin: string, view: ViewRow, { start, end }: TimeRange): string {
  const { filters, timezone } = toViewSettings(view)
  const toDay = (at: number) =>
    Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).toPlainDate().toString()
  const query = new URLSearchParams({
    ...(filters as Record<string, string>),
    start: toDay(start),
    end: toDay(end - 1),
    timezone,
  })
  return `${origin}/app/${view.workspace_id}/analytics?${query}`
}
