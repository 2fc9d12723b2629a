// Reads times as other tools write them. The order of day and month is never guessed.

import type { DateOrder } from '../schema.ts'
import type { DateOrders } from './date-orders.ts'

export interface TimeOptions {
  /** The order of dates such as 03/04/2025; null while it is unknown. */
  dateOrder: DateOrder | null
  /** IANA name, for times that name no zone. */
  timeZone: string
  /** Collects the possible orders of a file's dates. */
  dateOrders?: DateOrders
}

/** Milliseconds, or the mistake in the text: a sentence with the fix. */
export type TimeReading = number | { message: string }

const YEAR_MIN = 1990
const YEAR_MAX = 2100
const EARLIEST = Date.UTC(YEAR_MIN, 0)
const LATEST = Date.UTC(YEAR_MAX + 1, 0)
const TEXT_MAX = 80

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:(?:T| +)(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?))?)?$/i
const EPOCH = /^(\d{9,10}|\d{12,13})(?:\.\d{1,9})?$/
/** The rest after a date: a time, AM or PM, a zone. */
const CLOCK = String.raw`(?:(?:,? +|T|,? at )(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\.?)?(?: ?(Z|UTC|GMT|(?:GMT|UTC)?[+-]\d\d(?::?\d\d)?))?(?: \([\w /+:-]+\))?)?`
const NUMERIC = new RegExp(String.raw`^(\d{1,4})([/.-])(\d{1,2})\2(\d{1,4})${CLOCK}$`, 'i')
const WEEKDAY = String.raw`(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? +)?`
/** Nov 3, 2025 */
const MONTH_FIRST = new RegExp(
  String.raw`^${WEEKDAY}([a-z]{3,9})\.? +(\d{1,2})(?:st|nd|rd|th)?,? +(\d{4})${CLOCK}$`,
  'i',
)
/** 3 Nov 2025 */
const DAY_FIRST = new RegExp(
  String.raw`^${WEEKDAY}(\d{1,2})(?:st|nd|rd|th)?[ .-]+([a-z]{3,9})\.?,?[ -]+(\d{4})${CLOCK}$`,
  'i',
)

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]

const UNKNOWN = { message: 'This date cannot be read. Write it as 2025-11-03 16:05:00.' }
const IMPOSSIBLE = { message: 'There is no such day or time. Correct it, or leave the cell empty.' }
const OUT_OF_RANGE = {
  message: `The year is not between ${YEAR_MIN} and ${YEAR_MAX}. Correct the date, or leave the cell empty.`,
}

/**
 * ISO 8601 with and without a zone, `2025-11-03 16:05:00`, seconds and milliseconds since 1970, `Nov 3, 2025, 4:05 PM`,
 * and numeric dates in the chosen order. A time without a zone is in `timeZone`. When clocks go back, an ambiguous
 * time is the earlier one; when they go forward, a skipped time is moved forward by the gap.
 */
export function readTime(text: string, options: TimeOptions): TimeReading {
  if (text.length > TEXT_MAX) return UNKNOWN
  const iso = ISO.exec(text)
  if (iso) return resolve(toWall(iso[1], iso[2], iso[3], iso, 4, false), iso[8], options)
  // Some locales put narrow blanks before AM and PM.
  const trimmed = text.replace(/[\s\u00a0\u202f\u2009]+/g, ' ').trim()
  if (trimmed !== text && ISO.test(trimmed)) return readTime(trimmed, options)
  if (EPOCH.test(trimmed)) return readEpoch(trimmed)
  const numeric = NUMERIC.exec(trimmed)
  if (numeric) return readNumeric(numeric, options)
  const monthFirst = MONTH_FIRST.exec(trimmed)
  if (monthFirst) {
    const month = findMonth(monthFirst[1] as string)
    return resolve(toWall(monthFirst[3], month, monthFirst[2], monthFirst, 4, true), monthFirst[9], options)
  }
  const dayFirst = DAY_FIRST.exec(trimmed)
  if (dayFirst) {
    const month = findMonth(dayFirst[2] as string)
    return resolve(toWall(dayFirst[3], month, dayFirst[1], dayFirst, 4, true), dayFirst[9], options)
  }
  return UNKNOWN
}

function readEpoch(text: string): TimeReading {
  const [whole = ''] = text.split('.')
  const at = Math.floor(whole.length <= 10 ? Number(text) * 1000 : Number(text))
  return at >= EARLIEST && at < LATEST ? at : OUT_OF_RANGE
}

function findMonth(name: string): number {
  const lower = name.toLowerCase()
  const index = MONTHS.findIndex((month) => month === lower || month.slice(0, 3) === lower)
  return lower === 'sept' ? 9 : index + 1
}

/** @param first the index of the hour in the match @returns null for an impossible day or time */
function toWall(
  year: string | number | undefined,
  month: string | number | undefined,
  day: string | number | undefined,
  match: RegExpExecArray,
  first: number,
  hasHalf: boolean,
): WallTime | null {
  const half = hasHalf ? match[first + 4]?.toLowerCase() : undefined
  let hour = Number(match[first] ?? 0)
  if (half) {
    if (hour < 1 || hour > 12) return null
    hour = (hour % 12) + (half === 'p' ? 12 : 0)
  }
  const minute = Number(match[first + 1] ?? 0)
  const second = Number(match[first + 2] ?? 0)
  const wall = { year: Number(year), month: Number(month), day: Number(day), hour, minute, second }
  if (hour > 23 || minute > 59 || second > 59 || !isDay(wall)) return null
  return { ...wall, millisecond: Math.floor(Number(`0.${match[first + 3] ?? 0}`) * 1000) }
}

interface WallTime {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  millisecond: number
}

const QUARTER_MS = 15 * 60_000
const QUARTERS_MAX = 20_000

/** Zone → quarter of an hour on the wall → milliseconds to subtract. Clocks change at full quarters only. */
const offsets = new Map<string, Map<number, number>>()

/**
 * Converts local wall time to a timestamp.
 * @param zone from the text: `Z`, `UTC`, `GMT`, `+01:00`, `GMT+0100`; else `timeZone` counts
 * @returns null for an impossible offset
 */
function toInstant(wall: WallTime, zone: string | undefined, timeZone: string): number | null {
  const { year, month, day, hour, minute, second, millisecond } = wall
  const asUtc = Date.UTC(year, month - 1, day, hour, minute, second, millisecond)
  if (zone !== undefined) {
    const offset = readOffset(zone)
    return offset === null ? null : asUtc - offset
  }
  return timeZone === 'UTC' ? asUtc : asUtc - findOffset(asUtc, timeZone)
}

function readOffset(zone: string): number | null {
  const parts = /([+-])(\d\d)(?::?(\d\d))?$/.exec(zone)
  if (!parts) return 0
  const [hours, minutes] = [Number(parts[2]), Number(parts[3] ?? 0)]
  if (hours > 14 || minutes > 59) return null
  return (parts[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** @throws RangeError for a zone that the runtime does not know */
function findOffset(asUtc: number, timeZone: string): number {
  let known = offsets.get(timeZone)
  if (!known) {
    known = new Map()
    offsets.set(timeZone, known)
  }
  const quarter = Math.floor(asUtc / QUARTER_MS)
  const found = known.get(quarter)
  if (found !== undefined) return found
  const start = quarter * QUARTER_MS
  const wall = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO('UTC').toPlainDateTime()
  // "compatible" (RFC 5545): the earlier of two times; a skipped time is moved forward by the gap.
  const at = wall.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds
  if (known.size >= QUARTERS_MAX) known.clear()
  known.set(quarter, start - at)
  return start - at
}

function isDay({ year, month, day }: { year: number; month: number; day: number }): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  // The last day of the month.
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function resolve(wall: WallTime | null, zone: string | undefined, options: TimeOptions): TimeReading {
  if (!wall) return IMPOSSIBLE
  if (wall.year < YEAR_MIN || wall.year > YEAR_MAX) return OUT_OF_RANGE
  return toInstant(wall, zone, options.timeZone) ?? UNKNOWN
}

const PARTS: Record<DateOrder, [number, number, number]> = { dmy: [2, 1, 0], mdy: [2, 0, 1], ymd: [0, 1, 2] }

function readNumeric(match: RegExpExecArray, options: TimeOptions): TimeReading {
  const parts = [match[1], match[3], match[4]] as [string, string, string]
  const times = new Map<DateOrder, WallTime>()
  for (const order of listOrders(parts)) {
    const [year, month, day] = PARTS[order].map((index) => parts[index] as string)
    const wall = toWall(toYear(year as string), month, day, match, 5, true)
    if (wall) times.set(order, wall)
  }
  if (times.size === 0) return IMPOSSIBLE
  const order = (parts[0] as string).length === 4 ? 'ymd' : options.dateOrder
  if ((parts[0] as string).length < 3) options.dateOrders?.note([...times.keys()], match[0])
  if (order) {
    const wall = times.get(order)
    if (wall) return resolve(wall, match[10], options)
    return { message: `This date does not fit the order of the file (${ORDER_TITLES[order]}). Correct it.` }
  }
  if (times.size === 1) return resolve([...times.values()][0] as WallTime, match[10], options)
  return {
    message:
      'Day and month could be either way round. Choose the order of dates for this file, or write 2026-03-29.',
  }
}

const ORDER_TITLES: Record<DateOrder, string> = {
  dmy: 'day, month, year',
  mdy: 'month, day, year',
  ymd: 'year, month, day',
}

function listOrders([first, , last]: [string, string, string]): DateOrder[] {
  if (first.length === 4) return ['ymd']
  if (first.length === 3 || last.length === 3 || last.length === 1) return last.length === 1 ? ['ymd'] : []
  return last.length === 4 ? ['dmy', 'mdy'] : ['dmy', 'mdy', 'ymd']
}

/** Years of two digits are those from 1990 to 2089. */
function toYear(text: string): number {
  const year = Number(text)
  if (text.length > 2) return year
  return year >= YEAR_MIN - 1900 ? 1900 + year : 2000 + year
}
