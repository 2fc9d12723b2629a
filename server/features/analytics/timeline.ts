// Time as people in a zone count it: what range a name stands for, and where its buckets begin. Pure; the zone's own
// rules come from the runtime (Temporal), so days of 23 and 25 hours need no case of their own.

export const GRANULARITIES = ['minute', 'hour', 'day', 'week', 'month'] as const
export type Granularity = (typeof GRANULARITIES)[number]

export const INTERVALS = ['24h', '7d', '30d', '90d', '1y', 'mtd', 'ytd', 'all'] as const
export type Interval = (typeof INTERVALS)[number]

/** Enough for a week of minutes; an answer of this size is about 700 KB. */
export const BUCKETS_MAX = 10_000

/** Milliseconds since the epoch; `end` is exclusive. */
export interface TimeRange {
  start: number
  end: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** About, for guessing only. */
const LENGTH: Record<Granularity, number> = {
  minute: MINUTE,
  hour: HOUR,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
}

export const toZonedTime = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)

const DATE = /^\d{4}-\d\d-\d\d$/
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i

export const isTimeZone = (name: string): boolean => {
  // Temporal also takes bare offsets; those are no zones and would be wrong half of the year.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    toZonedTime(0, name)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/**
 * What a person's `start` or `end` covers: an instant covers nothing (`start` = `end`), a date its whole day in the
 * zone. A time without an offset is a time on the zone's clock. Null for what is no ISO 8601 time.
 */
export function readMoment(text: string, zone: string): TimeRange | null {
  // A `+` that was not escaped in a query string arrives as a space.
  const written = text.replace(/ (?=\d\d:?\d\d$)/, '+')
  try {
    if (DATE.test(written)) {
      const date = Temporal.PlainDate.from(written)
      const start = date.toZonedDateTime(zone).epochMilliseconds
      return { start, end: date.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds }
    }
    const offset = MOMENT.exec(written)
    if (!offset) return null
    const at = offset[1]
      ? Temporal.Instant.from(written).epochMilliseconds
      : Temporal.PlainDateTime.from(written).toZonedDateTime(zone).epochMilliseconds
    return { start: at, end: at }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/**
 * Intervals are made of whole buckets that end with the current one: `7d` is today and the six days before it, `24h`
 * this hour and the 23 before it. So a chart has as many bars as its name says and none is cut short at the left.
 */
export function resolveInterval(interval: Interval, zone: string, now: number, began: number): TimeRange {
  const local = toZonedTime(now, zone)
  const today = local.toPlainDate()
  const dayStart = (date: Temporal.PlainDate) => date.toZonedDateTime(zone).epochMilliseconds
  const starts: Record<Interval, () => number> = {
    '24h': () => hourStart(now, zone) - 23 * HOUR,
    '7d': () => dayStart(today.subtract({ days: 6 })),
    '30d': () => dayStart(today.subtract({ days: 29 })),
    '90d': () => dayStart(today.subtract({ days: 89 })),
    '1y': () => dayStart(today.subtract({ years: 1 }).add({ days: 1 })),
    mtd: () => dayStart(today.with({ day: 1 })),
    ytd: () => dayStart(today.with({ month: 1, day: 1 })),
    all: () => began,
  }
  return { start: starts[interval](), end: untilNow(now) }
}

/** This very millisecond counts, so that a range is never empty, not even at the first moment of a month. */
export const untilNow = (now: number) => now + 1

/** The granularity that draws a readable line: about 30 to 180 points. */
export function chooseGranularity({ start, end }: TimeRange): Granularity {
  const length = end - start
  if (length <= 2 * HOUR) return 'minute'
  if (length <= 3 * DAY) return 'hour'
  return length <= 190 * DAY ? 'day' : 'month'
}

/** The finest granularity that cuts the range into at most `BUCKETS_MAX`, when `asked` is finer than that. */
export function findCoarserGranularity(asked: Granularity, { start, end }: TimeRange): Granularity | null {
  const fits = (each: Granularity) => (end - start) / LENGTH[each] <= BUCKETS_MAX
  if (fits(asked)) return null
  return GRANULARITIES.slice(GRANULARITIES.indexOf(asked)).find(fits) ?? 'month'
}

/**
 * Where each bucket of the range begins, ascending. The first holds the range's start, so it may begin before it.
 * Weeks begin on Monday. In autumn the repeated hour is a bucket of its own.
 */
export function listBucketStarts(range: TimeRange, granularity: Granularity, zone: string): number[] {
  return granularity === 'minute' || granularity === 'hour'
    ? clockStarts(range, LENGTH[granularity], zone)
    : dateStarts(range, granularity, zone)
}

/** One entry for every bucket; an engine tells only of those with something in them. */
export function fillBuckets<Answer extends { key: unknown }, Counts>(
  starts: number[],
  answers: Answer[],
  counts: (answer: Answer | undefined) => Counts,
): ({ time: string } & Counts)[] {
  const found = new Map(answers.map((each) => [each.key, each]))
  return starts.map((start) => ({ time: new Date(start).toISOString(), ...counts(found.get(start)) }))
}

const hourStart = (at: number, zone: string) =>
  clockStarts({ start: at, end: at + 1 }, HOUR, zone)[0] as number

/**
 * Whole hours or minutes of the local clock. Between two changes of the clock they are evenly spaced; a change that is
 * not by whole hours (Lord Howe Island: 30 minutes) begins a bucket of its own, for what the clock shows differs.
 */
function clockStarts({ start, end }: TimeRange, size: number, zone: string): number[] {
  const starts: number[] = []
  let at = start
  while (at < end) {
    const here = toZonedTime(at, zone)
    const change = here.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY
    const before =
      toZonedTime(at + 1, zone).getTimeZoneTransition('previous')?.epochMilliseconds ??
      Number.NEGATIVE_INFINITY
    const offset = here.offsetNanoseconds / 1e6
    const aligned = at - modulo(at + offset, size)
    for (
      let each = Math.max(aligned, before);
      each < Math.min(change, end);
      each = each - modulo(each + offset, size) + size
    )
      starts.push(each)
    at = change
  }
  return starts
}

const modulo = (a: number, b: number) => ((a % b) + b) % b

/** The first moment of each date that begins a day, week or month; a date that a zone skipped has none. */
function dateStarts(
  { start, end }: TimeRange,
  granularity: 'day' | 'week' | 'month',
  zone: string,
): number[] {
  const first = toZonedTime(start, zone).toPlainDate()
  const back = { day: 0, week: first.dayOfWeek - 1, month: first.day - 1 }[granularity]
  const origin = first.subtract({ days: back })
  const starts: number[] = []
  for (let n = 0; ; n++) {
    const date = origin.add({ [`${granularity}s`]: n })
    const at = date.toZonedDateTime(zone).epochMilliseconds
    if (at >= end) return starts
    if (at !== starts.at(-1)) starts.push(at)
  }
}
