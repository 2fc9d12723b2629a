// Ranges of time: the ones that have names, and the one before a range, which it is compared with. Wall clocks are
// reckoned in as if they were UTC, so that days of 23 and 25 hours need no case of their own; the API reads a time
// without an offset on the zone's clock.

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

/** More points than this are no line any more. */
const POINTS_MAX = 1500

export const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/

const clocks = new Map<string, Intl.DateTimeFormat>()

function getClock(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone)
  if (known) return known
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

/** What a clock on the wall shows, to the minute, as if that were UTC. */
export function toWallClock(at: number, zone: string): number {
  const shown = Object.fromEntries(
    getClock(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute', number>
  return Date.UTC(shown.year, shown.month - 1, shown.day, shown.hour, shown.minute)
}

const formatWallClock = (wall: number) => new Date(wall).toISOString().slice(0, 16)
const toDate = (wall: number) => new Date(wall).toISOString().slice(0, 10)

export const today = (zone: string, now = Date.now()) => toDate(toWallClock(now, zone))
export const addDays = (date: string, days: number) => toDate(Date.parse(date) + days * DAY)

/** The last day of a shorter month where the same day does not exist. */
function addMonths(wall: number, months: number): number {
  const from = new Date(wall)
  const to = new Date(wall)
  to.setUTCDate(1)
  to.setUTCMonth(from.getUTCMonth() + months)
  const last = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate()
  to.setUTCDate(Math.min(from.getUTCDate(), last))
  return to.getTime()
}

/**
 * As long, just before, and up to the same time of day: what is compared with today until noon is yesterday until noon.
 * A month to date goes with the month before, a year with the year before.
 * @param span what the API answered for the range. @returns null for all time, before which there is nothing
 */
export function previousRange(
  span: { start: string; end: string },
  interval: Interval | undefined,
  zone: string,
): { start: string; end: string } | null {
  if (interval === 'all') return null
  const start = toWallClock(Date.parse(span.start), zone)
  const end = toWallClock(Date.parse(span.end), zone)
  const days = Math.max(1, Math.ceil((end - start) / DAY))
  const months = interval === 'mtd' ? 1 : interval === 'ytd' || interval === '1y' ? 12 : 0
  const back = (wall: number) => (months > 0 ? addMonths(wall, -months) : wall - days * DAY)
  // The first minute of a month has nothing to be compared with yet.
  if (back(start) >= back(end)) return null
  return { start: formatWallClock(back(start)), end: formatWallClock(back(end)) }
}

export interface DaySpan {
  start: string
  end: string
}

/** The first and the last day of a range; null where it has no beginning that is known here. */
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
  const dayOf = (written: string, before: number) => {
    if (DATE_PATTERN.test(written)) return written
    const at = Date.parse(written)
    return Number.isNaN(at) ? null : toDate(toWallClock(at - before, zone))
  }
  const first = start ? dayOf(start, 0) : null
  const until = end ? dayOf(end, 1) : last
  return first && until && first <= until ? { start: first, end: until } : null
}

const endOfMonth = (date: string) => addDays(toDate(addMonths(Date.parse(`${date.slice(0, 8)}01`), 1)), -1)

/** As many days before or after; of months whole ones. */
export function shiftDays({ start, end }: DaySpan, direction: -1 | 1, now: string): DaySpan {
  const wholeMonth =
    start.endsWith('-01') && start.slice(0, 7) === end.slice(0, 7) && (end === endOfMonth(end) || end === now)
  if (wholeMonth && (end !== start || end === endOfMonth(end))) {
    const first = toDate(addMonths(Date.parse(start), direction))
    return { start: first, end: endOfMonth(first) }
  }
  const days = Math.round((Date.parse(end) - Date.parse(start)) / DAY) + 1
  return { start: addDays(start, direction * days), end: addDays(end, direction * days) }
}

/** From finest to coarsest, those that draw a line of this range. */
export function listGranularities({ start, end }: { start: string; end: string }): Granularity[] {
  const length = Date.parse(end) - Date.parse(start)
  return GRANULARITIES.filter(
    (each) =>
      length / GRANULARITY_MS[each] <= POINTS_MAX && (each === 'minute' || length >= GRANULARITY_MS[each]),
  )
}

/** How far apart the buckets of an answer are; the API chose it. */
export function inferGranularity(
  times: readonly string[],
  span?: { start: string; end: string },
): Granularity {
  const [first, second] = times
  const apart =
    first && second
      ? Date.parse(second) - Date.parse(first)
      : span
        ? Date.parse(span.end) - Date.parse(span.start)
        : DAY
  return GRANULARITIES.findLast((each) => apart >= GRANULARITY_MS[each] * 0.9) ?? 'minute'
}

/** What one bucket covers, as a range to look closer at; null where there is nothing finer. */
export function toBucketRange(time: string, granularity: Granularity, zone: string): DateRange | null {
  const at = Date.parse(time)
  if (granularity === 'minute') return null
  if (granularity === 'hour') return { start: time, end: new Date(at + HOUR).toISOString() }
  const first = toDate(toWallClock(at, zone))
  const days = { day: 1, week: 7, month: 0 }[granularity]
  const next = days > 0 ? addDays(first, days) : toDate(addMonths(Date.parse(first), 1))
  return { start: first, end: addDays(next, -1) }
}
