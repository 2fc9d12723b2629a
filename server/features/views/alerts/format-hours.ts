// Formats the hours of an alert, such as `Nov 27, 2026, 9:00 – 10:00 AM`.

import type { TimeRange } from '../../analytics/timeline.ts'

export const formatHours = ({ start, end }: TimeRange, timeZone: string) =>
  new Intl.DateTimeFormat('en', { timeZone, dateStyle: 'medium', timeStyle: 'short' }).formatRange(start, end)
