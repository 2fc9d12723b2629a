// Date ranges: named intervals, days, and the previous period for comparison. Local times are computed as if they
// were UTC, so that days of 23 and 25 hours need no special case. The API reads a time without an offset in the time
// zone of the query.

export const INTERVALS = ['24h', '7d', '30d', '90d', '1y', 'mtd', 'ytd', 'all'] as const
export type Interval = (typeof INTERVALS)[number]

export const GRANULARITIES = ['minute', 'hour', 'day', 'week', 'month'] as const
export type Granularity = (typeof GRANULARITIES)[number]

export const INTERVAL_NAMES: Record<Interval, string> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  '1y': 'Last 12 months',
  mtd: 'Month to date',
  ytd: 'Year to date',
  all: 'All time',
}

export interface DateRange {
  interval?: Interval
  /** A date or an instant, as the API takes them. */
  start?: string
  end?: string
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const GRANULARITY_MS: Record<Granularity, number> = {
  minute: MINUTE,
  hour: HOUR,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
}

/** A line with more points is unreadable. */
const POINTS_MAX = 1500

export const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/

const clocks = new Map<string, Intl.DateTimeFormat>()

function getClock(zone: string): Intl.DateTimeFormat {
  const cached = clocks.get(zone)
  if (cached) return cached
  const clock = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  clocks.set(zone, clock)
  return clock
}

export function isTimeZone(zone: string): boolean {
  try {
    return getClock(zone) !== undefined
  } catch {
    return false
  }
}

/** The local time in a zone, to the minute, as if it were UTC. */
export function toWallClock(at: number, zone: string): number {
  const parts = Object.fromEntries(
    getClock(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute', number>
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute)
}

const formatWallClock = (wall: number) => new Date(wall).toISOString().slice(0, 16)
const toDate = (wall: number) => new Date(wall).toISOString().slice(0, 10)

export const today = (zone: string, now = Date.now()) => toDate(toWallClock(now, zone))
export const addDays = (date: string, days: number) => toDate(Date.parse(date) + days * DAY)

/** The Monday of the date's week, as in the weeks of the API's `granularity=week` (ISO 8601). */
export const startOfWeek = (date: string) => addDays(date, -((new Date(date).getUTCDay() + 6) % 7))

/** Adds months. A day that the month does not have becomes its last day. */
function addMonths(wall: number, months: number): number {
  const from = new Date(wall)
  const to = new Date(wall)
  to.setUTCDate(1)
  to.setUTCMonth(from.getUTCMonth() + months)
  const last = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate()
  to.setUTCDate(Math.min(from.getUTCDate(), last))
  return to.getTime()
}

export const COMPARISONS = ['previous', 'year', 'none'] as const
export type Comparison = (typeof COMPARISONS)[number]

/**
 * The period to compare with. `previous`: the same length, up to the same time of day, so that today until noon is compared with yesterday
 * until noon. Month to date is compared with the previous month, year to date with the previous year. `year`: the same
 * days a year before.
 * @param span the start and end that the API answered. @returns null for all time, which has no previous period
 */
export function previousRange(
  span: { start: string; end: string },
  interval: Interval | undefined,
  zone: string,
  comparison: Comparison = 'previous',
): { start: string; end: string } | null {
  if (interval === 'all' || comparison === 'none') return null
  const start = toWallClock(Date.parse(span.start), zone)
  const end = toWallClock(Date.parse(span.end), zone)
  const days = Math.max(1, Math.ceil((end - start) / DAY))
  const isYear = comparison === 'year' || interval === 'ytd' || interval === '1y'
  const months = isYear ? 12 : interval === 'mtd' ? 1 : 0
  const moveBack = (wall: number) => (months > 0 ? addMonths(wall, -months) : wall - days * DAY)
  // In the first minute of a month, the previous period would be empty.
  if (moveBack(start) >= moveBack(end)) return null
  return { start: formatWallClock(moveBack(start)), end: formatWallClock(moveBack(end)) }
}

export interface DaySpan {
  start: string
  end: string
}

/** The first and the last day of a range; null for a range without a known start. */
export function toDaySpan(
  { interval, start, end }: DateRange,
  zone: string,
  now = Date.now(),
): DaySpan | null {
  const last = today(zone, now)
  const months = (n: number) => addDays(toDate(addMonths(Date.parse(last), -n)), 1)
  switch (interval) {
    case 'all':
      return null
    case '24h':
      return { start: last, end: last }
    case '7d':
    case '30d':
    case '90d':
      return { start: addDays(last, 1 - Number.parseInt(interval, 10)), end: last }
    case '1y':
      return { start: months(12), end: last }
    case 'mtd':
      return { start: `${last.slice(0, 8)}01`, end: last }
    case 'ytd':
      return { start: `${last.slice(0, 5)}01-01`, end: last }
  }
  const toDay = (text: string, subtractMs: number) => {
    if (DATE_PATTERN.test(text)) return text
    const at = Date.parse(text)
    return Number.isNaN(at) ? null : toDate(toWallClock(at - subtractMs, zone))
  }
  const firstDay = start ? toDay(start, 0) : null
  const lastDay = end ? toDay(end, 1) : last
  return firstDay && lastDay && firstDay <= lastDay ? { start: firstDay, end: lastDay } : null
}

const endOfMonth = (date: string) => addDays(toDate(addMonths(Date.parse(`${date.slice(0, 8)}01`), 1)), -1)

/** Moves a span of days by its own length. A whole month moves to the next or previous whole month. */
export function shiftDays({ start, end }: DaySpan, direction: -1 | 1, now: string): DaySpan {
  const isWholeMonth =
    start.endsWith('-01') && start.slice(0, 7) === end.slice(0, 7) && (end === endOfMonth(end) || end === now)
  if (isWholeMonth && (end !== start || end === endOfMonth(end))) {
    const first = toDate(addMonths(Date.parse(start), direction))
    return { start: first, end: endOfMonth(first) }
  }
  const days = Math.round((Date.parse(end) - Date.parse(start)) / DAY) + 1
  return { start: addDays(start, direction * days), end: addDays(end, direction * days) }
}

/** The granularities that suit a range, from finest to coarsest. */
export function listGranularities({ start, end }: { start: string; end: string }): Granularity[] {
  const length = Date.parse(end) - Date.parse(start)
  return GRANULARITIES.filter(
    (each) =>
      length / GRANULARITY_MS[each] <= POINTS_MAX && (each === 'minute' || length >= GRANULARITY_MS[each]),
  )
}

/** The granularity that the API chose, from the distance of the buckets. */
export function inferGranularity(
  times: readonly string[],
  span?: { start: string; end: string },
): Granularity {
  const [first, second] = times
  const distance =
    first && second
      ? Date.parse(second) - Date.parse(first)
      : span
        ? Date.parse(span.end) - Date.parse(span.start)
        : DAY
  return GRANULARITIES.findLast((each) => distance >= GRANULARITY_MS[each] * 0.9) ?? 'minute'
}

/** The range of one bucket, to zoom in; null where no finer granularity exists. */
export const toBucketRange = (time: string, granularity: Granularity, zone: string): DateRange | null =>
  granularity === 'minute' ? null : toBucketsRange(time, time, granularity, zone)

/** The range from the start of one bucket to the end of another. */
export const toBucketsRange = (
  first: string,
  last: string,
  granularity: Granularity,
  zone: string,
): DateRange => ({
  start: toBucketSpan(first, granularity, zone).start,
  end: toBucketSpan(last, granularity, zone).end,
})

function toBucketSpan(time: string, granularity: Granularity, zone: string): DaySpan {
  const at = Date.parse(time)
  if (granularity === 'minute' || granularity === 'hour')
    return { start: time, end: new Date(at + GRANULARITY_MS[granularity]).toISOString() }
  const first = toDate(toWallClock(at, zone))
  const days = { day: 1, week: 7, month: 0 }[granularity]
  const next = days > 0 ? addDays(first, days) : toDate(addMonths(Date.parse(first), 1))
  return { start: first, end: addDays(next, -1) }
}
