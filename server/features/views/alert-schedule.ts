// The hours that an alert compares: pure. They end with the last full hour of the time zone, and begin to be counted some
// minutes later, once all nodes have shipped their hits.

import { type TimeRange, toHourStart, toZonedTime } from '../analytics/timeline.ts'

export const ALERT_WINDOWS = ['1h', '6h', '24h'] as const
type AlertWindow = (typeof ALERT_WINDOWS)[number]

const HOUR = 3_600_000
const SHIPPED_AFTER_MS = 5 * 60_000
const WEEKS = [1, 2, 3, 4]

/** How messages write the hours of an alert. */
export const HOURS = { dateStyle: 'medium', timeStyle: 'short' } as const

export const formatWindow = (window: AlertWindow) =>
  window === '1h' ? 'hour' : `${Number.parseInt(window, 10)} hours`

export const toWindowMs = (window: AlertWindow) => Number.parseInt(window, 10) * HOUR

/** The first check after `now`: hourly. */
export const findNextCheck = (zone: string, now: number) =>
  toHourStart(now - SHIPPED_AFTER_MS, zone) + HOUR + SHIPPED_AFTER_MS

/** The check after an alert: no hour is told twice. */
export const findCheckAfterAlert = (window: AlertWindow, { end }: TimeRange) =>
  end + toWindowMs(window) + SHIPPED_AFTER_MS

/** The newest hours, and the same hours of the clock in the four weeks before, the latest week first. */
export function findAlertHours(
  window: AlertWindow,
  zone: string,
  now: number,
): { hours: TimeRange; earlier: TimeRange[] } {
  const end = toHourStart(now - SHIPPED_AFTER_MS, zone)
  const toRange = (at: number) => ({ start: at - toWindowMs(window), end: at })
  const local = toZonedTime(end, zone)
  return {
    hours: toRange(end),
    earlier: WEEKS.map((weeks) => toRange(local.subtract({ weeks }).epochMilliseconds)),
  }
}

/** The mean, without the weeks before the oldest one with a count: there was nothing to count then. @returns null without any */
export function findExpected(counts: number[]): number | null {
  const known = counts.slice(0, counts.findLastIndex((count) => count > 0) + 1)
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0) / known.length
}
