// The address of the analytics page that shows a view for some days.

import type { TimeRange } from '../analytics/timeline.ts'
import { toViewSettings, type ViewRow } from './view.ts'

/** With the filters of the view and the days of the range. */
export function toDashboardUrl(origin: string, view: ViewRow, { start, end }: TimeRange): string {
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
