// Moments of a chart in the words of the viewer's language, on the clock of the zone that the view is in.

import type { DateRange, Granularity } from './date-range.ts'
import { DATE_PATTERN, INTERVAL_NAMES, today } from './date-range.ts'

const FULL: Record<Granularity, Intl.DateTimeFormatOptions> = {
  minute: { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' },
  hour: { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' },
  day: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  week: { day: 'numeric', month: 'short', year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
}

const SHORT: Record<Granularity, Intl.DateTimeFormatOptions> = {
  minute: { hour: 'numeric', minute: '2-digit' },
  hour: { hour: 'numeric', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  week: { day: 'numeric', month: 'short' },
  month: { month: 'short', year: '2-digit' },
}

const DAY_MS = 86_400_000

/** @param times of all buckets: how long they are together decides how much each must say */
export function createBucketLabels(times: readonly string[], granularity: Granularity, zone: string) {
  const [first = '', last = ''] = [times[0], times.at(-1)]
  const long = Date.parse(last) - Date.parse(first) > 1.5 * DAY_MS
  const short =
    long && granularity === 'hour' ? { weekday: 'short' as const, ...SHORT.hour } : SHORT[granularity]
  const full = new Intl.DateTimeFormat(undefined, { timeZone: zone, ...FULL[granularity] })
  const brief = new Intl.DateTimeFormat(undefined, { timeZone: zone, ...short })
  const prefix = granularity === 'week' ? 'Week of ' : ''
  return {
    full: (time: string) => prefix + full.format(new Date(time)),
    short: (time: string) => brief.format(new Date(time)),
  }
}

const day = new Intl.DateTimeFormat(undefined, {
  timeZone: 'UTC',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})

/** A date as it is; an instant on the clock of the zone. */
function formatMoment(written: string, zone: string): string {
  if (DATE_PATTERN.test(written)) return day.format(new Date(written))
  const at = new Date(written)
  if (Number.isNaN(at.getTime())) return written
  return new Intl.DateTimeFormat(undefined, { timeZone: zone, ...FULL.minute }).format(at)
}

/** `Last 30 days`, `12–18 Nov 2026` */
export function formatRange({ interval, start, end }: DateRange, zone: string): string {
  if (interval) return INTERVAL_NAMES[interval]
  if (start && end && DATE_PATTERN.test(start) && DATE_PATTERN.test(end)) {
    if (start === end) return start === today(zone) ? 'Today' : formatMoment(start, zone)
    return start < end ? day.formatRange(new Date(start), new Date(end)) : `${start} – ${end}`
  }
  if (!end) return start === today(zone) ? 'Today' : `Since ${formatMoment(start ?? '', zone)}`
  if (!start) return `Until ${formatMoment(end, zone)}`
  return `${formatMoment(start, zone)} – ${formatMoment(end, zone)}`
}
