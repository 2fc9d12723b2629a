// Ranges and buckets in a time zone: what range an interval such as `7d` is, and where its buckets begin. All functions
// are pure. Temporal knows the rules of the zone, so days of 23 or 25 hours need no special case.

export const GRANULARITIES = ['minute', 'hour', 'day', 'week', 'month'] as const
export type Granularity = (typeof GRANULARITIES)[number]

export const INTERVALS = ['24h', '7d', '30d', '90d', '1y', 'mtd', 'ytd', 'all'] as const
export type Interval = (typeof INTERVALS)[number]

/** About a week of minutes. An answer with this many buckets has about 700 KB. */
export const BUCKETS_MAX = 10_000

/** Milliseconds since the epoch; `end` is exclusive. */
export interface TimeRange {
  start: number
  end: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Approximate lengths, for estimates only. */
const LENGTH: Record<Granularity, number> = {
  minute: MINUTE,
  hour: HOUR,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
}

export const toZonedTime = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)

/** For example `20260329T120000Z`, for file names: Windows does not allow a colon in them. */
export const toCompactTime = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')

const DATE = /^\d{4}-\d\d-\d\d$/
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i

/**
 * Reads a `start` or `end` parameter. An instant gives an empty range (`start` = `end`), and a date gives its whole day
 * in the zone. A time without an offset is local time of the zone. @returns null when the text is not an ISO 8601 time
 */
export function readMoment(text: string, zone: string): TimeRange | null {
  // An unescaped `+` in a query string arrives as a space.
  const written = text.replace(/ (?=\d\d:?\d\d$)/, '+')
  try {
    if (DATE.test(written)) {
      const date = Temporal.PlainDate.from(written)
      const start = date.toZonedDateTime(zone).epochMilliseconds
      return { start, end: date.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds }
    }
    const match = MOMENT.exec(written)
    if (!match) return null
    const at = match[1]
      ? Temporal.Instant.from(written).epochMilliseconds
      : Temporal.PlainDateTime.from(written).toZonedDateTime(zone).epochMilliseconds
    return { start: at, end: at }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/**
 * An interval consists of whole buckets and ends with the current one: `7d` is today and the six days before, `24h` is
 * this hour and the 23 hours before. A chart then has as many bars as the name says, and its first bar is complete.
 * @param createdAt when the workspace was created, the start of `all`
 */
export function resolveInterval(interval: Interval, zone: string, now: number, createdAt: number): TimeRange {
  const local = toZonedTime(now, zone)
  const today = local.toPlainDate()
  const dayStart = (date: Temporal.PlainDate) => date.toZonedDateTime(zone).epochMilliseconds
  const starts: Record<Interval, () => number> = {
    '24h': () => toHourStart(now, zone) - 23 * HOUR,
    '7d': () => dayStart(today.subtract({ days: 6 })),
    '30d': () => dayStart(today.subtract({ days: 29 })),
    '90d': () => dayStart(today.subtract({ days: 89 })),
    '1y': () => dayStart(today.subtract({ years: 1 }).add({ days: 1 })),
    mtd: () => dayStart(today.with({ day: 1 })),
    ytd: () => dayStart(today.with({ month: 1, day: 1 })),
    all: () => createdAt,
  }
  return { start: starts[interval](), end: untilNow(now) }
}

/** The exclusive end that includes the current millisecond: a range is not empty, even at the start of a month. */
export const untilNow = (now: number) => now + 1

/** The granularity that gives a readable chart, with about 30 to 180 points. */
export function chooseGranularity({ start, end }: TimeRange): Granularity {
  const length = end - start
  if (length <= 2 * HOUR) return 'minute'
  if (length <= 3 * DAY) return 'hour'
  return length <= 190 * DAY ? 'day' : 'month'
}

/** @returns `granularity` or the finest coarser one that gives at most `BUCKETS_MAX` buckets; undefined if none does */
export const findFittingGranularity = (granularity: Granularity, { start, end }: TimeRange) =>
  GRANULARITIES.slice(GRANULARITIES.indexOf(granularity)).find(
    (each) => (end - start) / LENGTH[each] <= BUCKETS_MAX,
  )

/**
 * The starts of all buckets of the range, ascending. The first bucket contains the start of the range, so it can begin
 * earlier. Weeks begin on Monday. The hour that repeats in autumn has its own bucket.
 */
export function listBucketStarts(range: TimeRange, granularity: Granularity, zone: string): number[] {
  return granularity === 'minute' || granularity === 'hour'
    ? listClockStarts(range, LENGTH[granularity], zone)
    : listDateStarts(range, granularity, zone)
}

/** Gives every bucket an entry: the answers of an engine leave out empty buckets. */
export function fillBuckets<Answer extends { key: unknown }, Counts>(
  starts: number[],
  answers: Answer[],
  toCounts: (answer: Answer | undefined) => Counts,
): ({ time: string } & Counts)[] {
  const byKey = new Map(answers.map((answer) => [answer.key, answer]))
  return starts.map((start) => ({ time: new Date(start).toISOString(), ...toCounts(byKey.get(start)) }))
}

export const toHourStart = (at: number, zone: string) =>
  listClockStarts({ start: at, end: at + 1 }, HOUR, zone)[0] as number

/**
 * Starts of whole hours or minutes of local time. They are evenly spaced between two changes of the clock. A change by
 * less than an hour (30 minutes on Lord Howe Island) starts a new bucket, because local time jumps there.
 */
function listClockStarts({ start, end }: TimeRange, size: number, zone: string): number[] {
  const starts: number[] = []
  let at = start
  while (at < end) {
    const local = toZonedTime(at, zone)
    const nextChange = local.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY
    const previousChange =
      toZonedTime(at + 1, zone).getTimeZoneTransition('previous')?.epochMilliseconds ??
      Number.NEGATIVE_INFINITY
    const offset = local.offsetNanoseconds / 1e6
    const aligned = at - modulo(at + offset, size)
    for (
      let next = Math.max(aligned, previousChange);
      next < Math.min(nextChange, end);
      next = next - modulo(next + offset, size) + size
    )
      starts.push(next)
    at = nextChange
  }
  return starts
}

const modulo = (a: number, b: number) => ((a % b) + b) % b

/** The first instant of each day, week or month. A date that the zone skipped has no bucket. */
function listDateStarts(
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
