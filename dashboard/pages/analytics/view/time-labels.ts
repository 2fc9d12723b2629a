// Labels of times and ranges, in the viewer's language and the view's time zone.

import { locale } from '../../../api/language.ts'
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

/** @param times of all buckets; the length of the range decides how much detail a label needs */
export function createBucketLabels(times: readonly string[], granularity: Granularity, zone: string) {
  const [first = '', last = ''] = [times[0], times.at(-1)]
  const isLong = Date.parse(last) - Date.parse(first) > 1.5 * DAY_MS
  const shortFormat =
    isLong && granularity === 'hour' ? { weekday: 'short' as const, ...SHORT.hour } : SHORT[granularity]
  const full = new Intl.DateTimeFormat(locale, { timeZone: zone, ...FULL[granularity] })
  const brief = new Intl.DateTimeFormat(locale, { timeZone: zone, ...shortFormat })
  const prefix = granularity === 'week' ? 'Week of ' : ''
  return {
    full: (time: string) => prefix + full.format(new Date(time)),
    short: (time: string) => brief.format(new Date(time)),
  }
}

const day = new Intl.DateTimeFormat(locale, {
  timeZone: 'UTC',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})

/** A date, or a time in the given zone. */
function formatDateOrTime(text: string, zone: string): string {
  if (DATE_PATTERN.test(text)) return day.format(new Date(text))
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) return text
  return new Intl.DateTimeFormat(locale, { timeZone: zone, ...FULL.minute }).format(at)
}

/** `Last 30 days`, `12–18 Nov 2026` */
export function formatRange({ interval, start, end }: DateRange, zone: string): string {
  if (interval) return INTERVAL_NAMES[interval]
  if (start && end && DATE_PATTERN.test(start) && DATE_PATTERN.test(end)) {
    if (start === end) return start === today(zone) ? 'Today' : formatDateOrTime(start, zone)
    return start < end ? day.formatRange(new Date(start), new Date(end)) : `${start} – ${end}`
  }
  if (!end) return start === today(zone) ? 'Today' : `Since ${formatDateOrTime(start ?? '', zone)}`
  if (!start) return `Until ${formatDateOrTime(end, zone)}`
  return `${formatDateOrTime(start, zone)} – ${formatDateOrTime(end, zone)}`
}
