// The schedule of reports: pure. A report is due at a time of the clock in a time zone, and is about the day, week or month
// before that day. A time that a change of the clock skips is the moment after the change.

import type { TimeRange } from '../analytics/timeline.ts'

export const REPORT_PERIODS = ['day', 'week', 'month'] as const
export type ReportPeriod = (typeof REPORT_PERIODS)[number]

export interface ReportTime {
  every: ReportPeriod
  /** `HH:MM` */
  at: string
}

/** The day on which the report of a period is due: each day, Monday, the first of a month. */
function toDueDay(date: Temporal.PlainDate, every: ReportPeriod): Temporal.PlainDate {
  if (every === 'day') return date
  return every === 'week' ? date.subtract({ days: date.dayOfWeek - 1 }) : date.with({ day: 1 })
}

const toMoment = (date: Temporal.PlainDate, at: string, zone: string) =>
  date.toZonedDateTime({ timeZone: zone, plainTime: Temporal.PlainTime.from(at) }).epochMilliseconds

const toDayStart = (date: Temporal.PlainDate, zone: string) => date.toZonedDateTime(zone).epochMilliseconds

const toStep = (every: ReportPeriod) => ({ [`${every}s`]: 1 })

/** The first due moment after `now`. */
export function findNextDue({ every, at }: ReportTime, zone: string, now: number): number {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate()
  let day = toDueDay(today, every)
  while (toMoment(day, at, zone) <= now) day = day.add(toStep(every))
  return toMoment(day, at, zone)
}

/** The period of the newest report that is due at `now`, and the period before it, as whole days of the zone. */
export function findDuePeriod(
  { every, at }: ReportTime,
  zone: string,
  now: number,
): { period: TimeRange; before: TimeRange } {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate()
  let day = toDueDay(today, every)
  if (toMoment(day, at, zone) > now) day = day.subtract(toStep(every))
  const [start, beforeStart] = [
    day.subtract(toStep(every)),
    day.subtract(toStep(every)).subtract(toStep(every)),
  ]
  return {
    period: { start: toDayStart(start, zone), end: toDayStart(day, zone) },
    before: { start: toDayStart(beforeStart, zone), end: toDayStart(start, zone) },
  }
}
