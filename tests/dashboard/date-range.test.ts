// The date ranges of analytics: previous periods, spans of days, and granularities, across daylight saving time.

import { describe, expect, test } from 'bun:test'
import {
  inferGranularity,
  listGranularities,
  previousRange,
  shiftDays,
  startOfWeek,
  toBucketRange,
  toDaySpan,
  today,
  toWallClock,
} from '../../dashboard/pages/analytics/view/date-range.ts'

const BERLIN = 'Europe/Berlin'

describe('the previous period', () => {
  test.each([
    // Seven days until noon are compared with the seven days before, until noon.
    ['7d', '2026-06-08T22:00:00.000Z', '2026-06-15T10:00:00.001Z', '2026-06-02T00:00', '2026-06-08T12:00'],
    // Across the change to daylight saving time, midnight stays midnight.
    ['7d', '2026-03-24T23:00:00.000Z', '2026-03-31T10:00:00.001Z', '2026-03-18T00:00', '2026-03-24T12:00'],
    ['24h', '2026-06-14T11:00:00.000Z', '2026-06-15T10:30:00.001Z', '2026-06-13T13:00', '2026-06-14T12:30'],
    ['mtd', '2026-02-28T23:00:00.000Z', '2026-03-31T10:00:00.001Z', '2026-02-01T00:00', '2026-02-28T12:00'],
    ['ytd', '2025-12-31T23:00:00.000Z', '2026-06-15T10:00:00.001Z', '2025-01-01T00:00', '2025-06-15T12:00'],
    [
      undefined,
      '2026-06-09T22:00:00.000Z',
      '2026-06-12T22:00:00.000Z',
      '2026-06-07T00:00',
      '2026-06-10T00:00',
    ],
  ] as const)('of %p from %p to %p', (interval, start, end, from, to) => {
    expect(previousRange({ start, end }, interval, BERLIN)).toEqual({ start: from, end: to })
  })

  test.each([
    ['30d', '2026-05-16T22:00:00.000Z', '2026-06-15T10:00:00.001Z', '2025-05-17T00:00', '2025-06-15T12:00'],
    ['mtd', '2026-02-28T23:00:00.000Z', '2026-03-31T10:00:00.001Z', '2025-03-01T00:00', '2025-03-31T12:00'],
    // 29 February.
    ['24h', '2024-02-28T23:00:00.000Z', '2024-02-29T10:00:00.001Z', '2023-02-28T00:00', '2023-02-28T11:00'],
  ] as const)('a year before %p from %p to %p', (interval, start, end, from, to) => {
    expect(previousRange({ start, end }, interval, BERLIN, 'year')).toEqual({ start: from, end: to })
    expect(previousRange({ start, end }, interval, BERLIN, 'none')).toBeNull()
  })

  test('does not exist for all time, nor for a month in its first minute', () => {
    const span = { start: '2026-05-31T22:00:00.000Z', end: '2026-05-31T22:00:00.001Z' }
    expect(previousRange(span, 'all', BERLIN)).toBeNull()
    expect(previousRange(span, 'mtd', BERLIN)).toBeNull()
  })
})

describe('the days of a range', () => {
  const now = Date.parse('2026-06-15T22:30:00Z')
  test.each([
    [{ interval: '24h' }, '2026-06-16', '2026-06-16'],
    [{ interval: '7d' }, '2026-06-10', '2026-06-16'],
    [{ interval: '1y' }, '2025-06-17', '2026-06-16'],
    [{ interval: 'mtd' }, '2026-06-01', '2026-06-16'],
    [{ interval: 'ytd' }, '2026-01-01', '2026-06-16'],
    [{ start: '2026-06-10' }, '2026-06-10', '2026-06-16'],
    [{ start: '2026-06-09T22:00:00Z', end: '2026-06-11T22:00:00Z' }, '2026-06-10', '2026-06-11'],
  ] as const)('%j', (range, start, end) => {
    expect(toDaySpan(range, BERLIN, now)).toEqual({ start, end })
  })

  test.each([{ interval: 'all' }, { end: '2026-06-10' }, { start: 'soon' }] as const)(
    '%j has no known start',
    (range) => {
      expect(toDaySpan(range, BERLIN, now)).toBeNull()
    },
  )

  test.each([
    ['2026-06-10', '2026-06-16', -1, '2026-06-03', '2026-06-09'],
    ['2026-06-03', '2026-06-09', 1, '2026-06-10', '2026-06-16'],
    // A whole month moves to a whole month, although months differ in length.
    ['2026-06-01', '2026-06-16', -1, '2026-05-01', '2026-05-31'],
    ['2026-01-01', '2026-01-31', 1, '2026-02-01', '2026-02-28'],
    ['2026-06-01', '2026-06-01', -1, '2026-05-31', '2026-05-31'],
  ] as const)('move from %p to %p by %p', (start, end, direction, from, to) => {
    expect(shiftDays({ start, end }, direction, '2026-06-16')).toEqual({ start: from, end: to })
  })
})

test.each([
  ['2026-06-15', '2026-06-15'],
  ['2026-06-21', '2026-06-15'],
  ['2026-03-01', '2026-02-23'],
])('the week of %p begins on Monday %p', (date, monday) => {
  expect(startOfWeek(date)).toBe(monday)
})

test('a time is converted into the local time of a zone', () => {
  const at = Date.parse('2026-06-15T22:30:00Z')
  expect(today(BERLIN, at)).toBe('2026-06-16')
  expect(today('America/New_York', at)).toBe('2026-06-15')
  expect(toWallClock(at, 'Asia/Kathmandu')).toBe(Date.parse('2026-06-16T04:15:00Z'))
})

test('only granularities that suit the range are offered', () => {
  const days = (n: number) => ({
    start: '2026-01-01T00:00:00Z',
    end: new Date(1767225600000 + n * 864e5).toISOString(),
  })
  expect(listGranularities(days(1))).toEqual(['minute', 'hour', 'day'])
  expect(listGranularities(days(30))).toEqual(['hour', 'day', 'week', 'month'])
  expect(listGranularities(days(3000))).toEqual(['week', 'month'])
})

test('the granularity is inferred from the distance of the buckets', () => {
  expect(inferGranularity(['2026-06-15T10:00:00Z', '2026-06-15T11:00:00Z'])).toBe('hour')
  expect(inferGranularity(['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'])).toBe('day')
  expect(inferGranularity(['2026-01-31T23:00:00Z', '2026-02-28T23:00:00Z'])).toBe('month')
})

test('a bucket becomes the range to zoom in to', () => {
  expect(toBucketRange('2026-06-14T22:00:00.000Z', 'day', BERLIN)).toEqual({
    start: '2026-06-15',
    end: '2026-06-15',
  })
  expect(toBucketRange('2026-05-31T22:00:00.000Z', 'month', BERLIN)).toEqual({
    start: '2026-06-01',
    end: '2026-06-30',
  })
  expect(toBucketRange('2026-06-15T10:00:00.000Z', 'hour', BERLIN)).toEqual({
    start: '2026-06-15T10:00:00.000Z',
    end: '2026-06-15T11:00:00.000Z',
  })
  expect(toBucketRange('2026-06-15T10:00:00.000Z', 'minute', BERLIN)).toBeNull()
})
