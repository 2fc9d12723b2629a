import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  BUCKETS_MAX,
  chooseGranularity,
  fillBuckets,
  findFittingGranularity,
  GRANULARITIES,
  INTERVALS,
  listBucketStarts,
  readMoment,
  resolveInterval,
  toZonedTime,
} from './timeline.ts'

const at = (text: string) => Date.parse(text)
const range = (start: string, end: string) => ({ start: at(start), end: at(end) })
const iso = (starts: number[]) => starts.map((each) => new Date(each).toISOString().slice(0, 16))
const hours = (starts: number[], end: number) =>
  starts.map((each, index) => ((starts[index + 1] ?? end) - each) / 3_600_000)

describe('days around a change of the clock', () => {
  test.each([
    ['Europe/Berlin', '2026-03-28T23:00Z', '2026-03-31T22:00Z', [23, 24, 24]],
    ['Europe/Berlin', '2026-10-23T22:00Z', '2026-10-26T23:00Z', [24, 25, 24]],
    ['America/New_York', '2026-03-07T05:00Z', '2026-03-10T04:00Z', [24, 23, 24]],
    ['America/New_York', '2026-10-31T04:00Z', '2026-11-03T05:00Z', [24, 25, 24]],
    ['Australia/Lord_Howe', '2026-04-03T13:00Z', '2026-04-06T13:30Z', [24, 24.5, 24]],
    ['Australia/Lord_Howe', '2026-10-02T13:30Z', '2026-10-05T13:00Z', [24, 23.5, 24]],
    // Midnight does not exist on the day when Cairo's clock goes forward.
    ['Africa/Cairo', '2026-04-22T22:00Z', '2026-04-25T21:00Z', [24, 23, 24]],
  ])('%s from %s: %p', (zone, start, end, lengths) => {
    const starts = listBucketStarts(range(start, end), 'day', zone)
    expect(starts[0]).toBe(at(start))
    expect(hours(starts, at(end))).toEqual(lengths as number[])
  })

  test('a date that a zone skipped has no bucket', () => {
    const starts = listBucketStarts(range('2011-12-29T10:00Z', '2012-01-01T10:00Z'), 'day', 'Pacific/Apia')
    expect(iso(starts)).toEqual(['2011-12-29T10:00', '2011-12-30T10:00', '2011-12-31T10:00'])
  })
})

describe('hours around a change of the clock', () => {
  test.each([
    [
      'Europe/Berlin, autumn: 02:00 twice',
      'Europe/Berlin',
      '2026-10-24T23:30Z',
      '2026-10-25T02:30Z',
      ['2026-10-24T23:00', '2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00'],
    ],
    [
      'New York, autumn: 01:00 twice',
      'America/New_York',
      '2026-11-01T05:00Z',
      '2026-11-01T07:00Z',
      ['2026-11-01T05:00', '2026-11-01T06:00'],
    ],
    [
      'Europe/Berlin, spring: no 02:00',
      'Europe/Berlin',
      '2026-03-29T00:00Z',
      '2026-03-29T02:00Z',
      ['2026-03-29T00:00', '2026-03-29T01:00'],
    ],
    [
      'Lord Howe, autumn: half an hour again',
      'Australia/Lord_Howe',
      '2026-04-04T14:10Z',
      '2026-04-04T16:00Z',
      ['2026-04-04T14:00', '2026-04-04T15:00', '2026-04-04T15:30'],
    ],
    [
      'Lord Howe, spring: half an hour missing',
      'Australia/Lord_Howe',
      '2026-10-03T15:00Z',
      '2026-10-03T17:00Z',
      ['2026-10-03T14:30', '2026-10-03T15:30', '2026-10-03T16:00'],
    ],
    [
      'a zone off by 45 minutes',
      'Asia/Kathmandu',
      '2026-01-01T00:00Z',
      '2026-01-01T01:00Z',
      ['2025-12-31T23:15', '2026-01-01T00:15'],
    ],
  ])('%s', (_, zone, start, end, expected) => {
    expect(iso(listBucketStarts(range(start, end), 'hour', zone))).toEqual(expected)
  })
})

test('weeks begin on Monday and months on the first, also before the range', () => {
  const asked = range('2026-03-26T12:00Z', '2026-04-14T00:00Z')
  expect(iso(listBucketStarts(asked, 'week', 'Europe/Berlin'))).toEqual([
    '2026-03-22T23:00',
    '2026-03-29T22:00',
    '2026-04-05T22:00',
    '2026-04-12T22:00',
  ])
  expect(iso(listBucketStarts(asked, 'month', 'Europe/Berlin'))).toEqual([
    '2026-02-28T23:00',
    '2026-03-31T22:00',
  ])
})

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Africa/Cairo',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Africa/Monrovia',
  'Africa/Casablanca',
]
const zone = fc.constantFrom(...ZONES)
const moment = fc.integer({ min: 0, max: at('2040-01-01T00:00Z') })

test('every instant of a range is in exactly one bucket with the same local time', () => {
  const DAY = 86_400_000
  const spans = { minute: DAY / 8, hour: 5 * DAY, day: 100 * DAY, week: 400 * DAY, month: 900 * DAY }
  fc.assert(
    fc.property(
      zone,
      moment,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(...GRANULARITIES),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (zone, start, length, granularity, where) => {
        const end = start + 1 + Math.floor(length * spans[granularity])
        const starts = listBucketStarts({ start, end }, granularity, zone)
        expect(starts[0]).toBeLessThanOrEqual(start)
        expect(starts.at(-1)).toBeLessThan(end)
        expect(starts.every((each, index) => index === 0 || each > (starts[index - 1] as number))).toBe(true)
        if (starts.length > 1) expect(starts[1]).toBeGreaterThan(start)
        const inside = start + Math.floor(where * (end - start - 1))
        const bucket = toZonedTime(starts.filter((each) => each <= inside).at(-1) as number, zone)
        const local = toZonedTime(inside, zone)
        if (granularity === 'month')
          expect(bucket.toPlainDate().toPlainYearMonth().equals(local.toPlainDate().toPlainYearMonth())).toBe(
            true,
          )
        else if (granularity === 'week')
          expect(bucket.toPlainDate().until(local.toPlainDate()).days).toBe(local.dayOfWeek - 1)
        else if (granularity === 'day') expect(bucket.toPlainDate().equals(local.toPlainDate())).toBe(true)
        else {
          expect([bucket.day, bucket.hour]).toEqual([local.day, local.hour])
          expect(bucket.offset).toBe(local.offset)
          if (granularity === 'minute') expect(bucket.minute).toBe(local.minute)
        }
      },
    ),
    { numRuns: 1000 },
  )
})

describe('intervals', () => {
  const now = at('2026-03-30T09:17:23.456Z')
  test.each([
    ['24h', '2026-03-29T10:00', 24],
    ['7d', '2026-03-23T23:00', 7],
    ['30d', '2026-02-28T23:00', 30],
    ['90d', '2025-12-30T23:00', 90],
    ['1y', '2025-03-30T22:00', 13],
    ['mtd', '2026-02-28T23:00', 30],
    ['ytd', '2025-12-31T23:00', 89],
    ['all', '2026-03-30T08:00', 78],
  ] as const)('%s begins %s and has %d buckets', (interval, start, count) => {
    const asked = resolveInterval(interval, 'Europe/Berlin', now, at('2026-03-30T08:00Z'))
    expect(iso([asked.start])).toEqual([start])
    expect(asked.end).toBe(now + 1)
    expect(listBucketStarts(asked, chooseGranularity(asked), 'Europe/Berlin')).toHaveLength(count)
  })

  test('are never empty and end now, in every zone and at every time', () => {
    fc.assert(
      fc.property(zone, moment, fc.constantFrom(...INTERVALS), (zone, now, interval) => {
        const { start, end } = resolveInterval(interval, zone, now, now)
        expect(start).toBeLessThan(end)
        expect(end).toBe(now + 1)
      }),
    )
  })
})

test('the granularity follows the length of the range', () => {
  const HOUR = 3_600_000
  const chosen = [1, 3, 48, 80, 24 * 90, 24 * 365].map((hours) =>
    chooseGranularity({ start: 0, end: hours * HOUR }),
  )
  expect(chosen).toEqual(['minute', 'hour', 'hour', 'day', 'day', 'month'])
})

test('too many buckets name the granularity that fits', () => {
  const days = (n: number) => ({ start: 0, end: n * 86_400_000 })
  expect(findFittingGranularity('minute', days(6))).toBe('minute')
  expect(findFittingGranularity('minute', days(30))).toBe('hour')
  expect(findFittingGranularity('minute', days(1000))).toBe('day')
  expect(findFittingGranularity('hour', days(400))).toBe('hour')
  expect(listBucketStarts(days(6), 'minute', 'UTC').length).toBeLessThanOrEqual(BUCKETS_MAX)
})

test('adds empty buckets', () => {
  const counts = (answer: { clicks: number } | undefined) => ({ clicks: answer?.clicks ?? 0 })
  expect(fillBuckets([0, 1000], [{ key: 1000, clicks: 3 }], counts)).toEqual([
    { time: '1970-01-01T00:00:00.000Z', clicks: 0 },
    { time: '1970-01-01T00:00:01.000Z', clicks: 3 },
  ])
})

describe('moments in parameters', () => {
  const read = (text: string, zone = 'Europe/Berlin') => {
    const found = readMoment(text, zone)
    return found && [new Date(found.start).toISOString(), new Date(found.end).toISOString()]
  }
  test('a date is its whole day, of any length', () => {
    expect(read('2026-03-29')).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'])
  })
  test.each([
    ['2026-03-29T12:00:00Z', '2026-03-29T12:00:00.000Z'],
    ['2026-03-29T12:00:00.123456Z', '2026-03-29T12:00:00.123Z'],
    ['2026-03-29T12:00+02:00', '2026-03-29T10:00:00.000Z'],
    ['2026-03-29T12:00 02:00', '2026-03-29T10:00:00.000Z'],
    ['2026-03-29T12:00:00-0530', '2026-03-29T17:30:00.000Z'],
    ['2026-03-29T12:00', '2026-03-29T10:00:00.000Z'],
  ])('%s is exact', (text, expected) => {
    expect(read(text)).toEqual([expected, expected])
  })
  test.each([
    '',
    'today',
    '2026',
    '2026-02-30',
    '2026-13-01',
    '2026-03-29T25:00Z',
    '1760000000000',
    '2026-03-29Z',
    '+012026-01-01',
    '2026-03-29T12:00[UTC]',
  ])('%p is not a moment', (text) => {
    expect(read(text)).toBeNull()
  })
})
