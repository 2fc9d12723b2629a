import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import type { DateOrder } from '../schema.ts'
import { DateOrders } from './date-orders.ts'
import { readTime } from './read-time.ts'

const read = (text: string, dateOrder: DateOrder | null = null, timeZone = 'UTC') => {
  const at = readTime(text, { dateOrder, timeZone })
  return typeof at === 'number' ? new Date(at).toISOString() : at.message
}

const AMBIGUOUS =
  'Day and month could be either way round. Choose the order of dates for this file, or write 2026-03-29.'
const UNKNOWN = 'This date cannot be read. Write it as 2025-11-03 16:05:00.'
const IMPOSSIBLE = 'There is no such day or time. Correct it, or leave the cell empty.'
const OUT_OF_RANGE = 'The year is not between 1990 and 2100. Correct the date, or leave the cell empty.'

describe('a time', () => {
  test.each([
    ['2025-11-03T16:05:06.789Z', '2025-11-03T16:05:06.789Z'],
    ['2025-11-03T16:05:06+01:00', '2025-11-03T15:05:06.000Z'],
    ['2025-11-03T16:05:06+0100', '2025-11-03T15:05:06.000Z'],
    ['2025-11-03T16:05:06-05', '2025-11-03T21:05:06.000Z'],
    ['2025-11-03 16:05:06', '2025-11-03T16:05:06.000Z'],
    ['2025-11-03 16:05:06 UTC', '2025-11-03T16:05:06.000Z'],
    ['2025-11-03 16:05', '2025-11-03T16:05:00.000Z'],
    ['2025-11-03T16:05:06.123456Z', '2025-11-03T16:05:06.123Z'],
    ['2025-11-03', '2025-11-03T00:00:00.000Z'],
    ['1762185906', '2025-11-03T16:05:06.000Z'],
    ['1762185906.5', '2025-11-03T16:05:06.500Z'],
    ['1762185906789', '2025-11-03T16:05:06.789Z'],
    ['Nov 3, 2025, 4:05 PM', '2025-11-03T16:05:00.000Z'],
    ['Nov 3, 2025, 4:05\u202fPM', '2025-11-03T16:05:00.000Z'],
    ['November 3rd, 2025', '2025-11-03T00:00:00.000Z'],
    ['Nov 3, 2025 at 12:05 a.m.', '2025-11-03T00:05:00.000Z'],
    ['Sept. 3, 2025 12:00 PM', '2025-09-03T12:00:00.000Z'],
    ['3 November 2025 16:05', '2025-11-03T16:05:00.000Z'],
    ['03-Nov-2025 16:05:06', '2025-11-03T16:05:06.000Z'],
    ['Mon, 03 Nov 2025 16:05:06 GMT', '2025-11-03T16:05:06.000Z'],
    ['Mon Nov 03 2025 16:05:06 GMT+0100 (Central European Standard Time)', '2025-11-03T15:05:06.000Z'],
    ['2025/11/03 16:05:06', '2025-11-03T16:05:06.000Z'],
    ['13/04/2025 16:05', '2025-04-13T16:05:00.000Z'],
    ['04/13/2025 4:05 PM', '2025-04-13T16:05:00.000Z'],
    ['13.04.2025', '2025-04-13T00:00:00.000Z'],
    ['31/12/99', '1999-12-31T00:00:00.000Z'],
    ['04/04/2025', AMBIGUOUS],
    ['03/04/2025 16:05', AMBIGUOUS],
    ['03.04.2025', AMBIGUOUS],
    ['3-4-25', AMBIGUOUS],
    ['2025-02-29', IMPOSSIBLE],
    ['2025-11-31 10:00', IMPOSSIBLE],
    ['2025-13-01', IMPOSSIBLE],
    ['32/13/2025', IMPOSSIBLE],
    ['Feb 30, 2025', IMPOSSIBLE],
    ['2025-11-03 24:00', IMPOSSIBLE],
    ['2025-11-03 23:60', IMPOSSIBLE],
    ['Nov 3, 2025, 13:05 PM', IMPOSSIBLE],
    ['1989-12-31', OUT_OF_RANGE],
    ['2101-01-01', OUT_OF_RANGE],
    ['0000-00-00', IMPOSSIBLE],
    ['599999999', OUT_OF_RANGE],
    ['tomorrow', UNKNOWN],
    ['', UNKNOWN],
    ['12345', UNKNOWN],
    ['2025-11-03 16:05 EST', UNKNOWN],
    ['2025-11-03T16:05+25:00', UNKNOWN],
    ['Foo 3, 2025', IMPOSSIBLE],
    ['1/2/3/4', UNKNOWN],
    ['9'.repeat(100_000), UNKNOWN],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test('has the order that somebody has said, and no other', () => {
    expect(read('03/04/2025', 'dmy')).toBe('2025-04-03T00:00:00.000Z')
    expect(read('03/04/2025', 'mdy')).toBe('2025-03-04T00:00:00.000Z')
    expect(read('03/04/25', 'ymd')).toBe('2003-04-25T00:00:00.000Z')
    expect(read('25/04/03', 'ymd')).toBe('2025-04-03T00:00:00.000Z')
    expect(read('13/04/2025', 'mdy')).toBe(
      'This date does not fit the order of the file (month, day, year). Correct it.',
    )
    expect(read('2025/04/03', 'dmy')).toBe('2025-04-03T00:00:00.000Z')
  })

  test('without a zone is one of the zone that is said', () => {
    expect(read('2025-11-03 16:05:00', null, 'Europe/Berlin')).toBe('2025-11-03T15:05:00.000Z')
    expect(read('2025-07-03 16:05:00', null, 'Europe/Berlin')).toBe('2025-07-03T14:05:00.000Z')
    expect(read('2025-07-03T16:05:00Z', null, 'Europe/Berlin')).toBe('2025-07-03T16:05:00.000Z')
    expect(read('1762185906', null, 'Asia/Kathmandu')).toBe('2025-11-03T16:05:06.000Z')
    expect(read('Nov 3, 2025, 4:05 PM', null, 'Asia/Kathmandu')).toBe('2025-11-03T10:20:00.000Z')
  })

  test('that comes twice is the earlier one, and one that is left out is as much later as the gap is long', () => {
    expect(read('2025-10-26 02:30', null, 'Europe/Berlin')).toBe('2025-10-26T00:30:00.000Z')
    expect(read('2025-03-30 02:30', null, 'Europe/Berlin')).toBe('2025-03-30T01:30:00.000Z')
    expect(read('2025-10-05 02:15', null, 'Australia/Lord_Howe')).toBe('2025-10-04T15:45:00.000Z')
  })

  test('reads as it was written, in every way to write it and every zone', () => {
    const zones = [
      'UTC',
      'America/New_York',
      'Europe/Berlin',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'Pacific/Apia',
    ]
    const pad = (value: number) => String(value).padStart(2, '0')
    const half = ({ hour, minute }: Temporal.PlainDateTime) =>
      `${hour % 12 === 0 ? 12 : hour % 12}:${pad(minute)} ${hour < 12 ? 'AM' : 'PM'}`
    const ways: ((wall: Temporal.PlainDateTime) => string)[] = [
      (wall) => wall.toString({ smallestUnit: 'second' }),
      (wall) => wall.toString({ smallestUnit: 'second' }).replace('T', ' '),
      (wall) =>
        `${wall.toLocaleString('en-US', { month: 'short' })} ${wall.day}, ${wall.year}, ${half(wall)}`,
      (wall) =>
        `${wall.day} ${wall.toLocaleString('en-US', { month: 'long' })} ${wall.year} ${pad(wall.hour)}:${pad(wall.minute)}`,
      (wall) => `${pad(wall.day)}/${pad(wall.month)}/${wall.year} ${pad(wall.hour)}:${pad(wall.minute)}`,
      (wall) => `${wall.day}.${wall.month}.${wall.year}, ${half(wall)}`,
    ]
    fc.assert(
      fc.property(
        fc.integer({ min: Date.UTC(1990, 0, 2), max: Date.UTC(2100, 11, 30) }),
        fc.constantFrom(...zones),
        fc.constantFrom(...ways),
        (at, timeZone, write) => {
          const minute = at - (at % 60_000)
          const wall = Temporal.Instant.fromEpochMilliseconds(minute)
            .toZonedDateTimeISO(timeZone)
            .toPlainDateTime()
          const expected = wall.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds
          expect(readTime(write(wall), { dateOrder: 'dmy', timeZone })).toBe(expected)
        },
      ),
      { numRuns: atScale({ full: 1_000, soak: 50_000 }) },
    )
  })

  test('is a number in range or a sentence, whatever the text is', () => {
    const piece = fc.constantFrom(
      '1',
      '12',
      '2025',
      '-',
      '/',
      ':',
      ' ',
      'T',
      'Z',
      '+',
      'Nov',
      'PM',
      ',',
      '.',
      '99999',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 14 }).map((parts) => parts.join('')),
        ),
        (text) => {
          const at = readTime(text, { dateOrder: 'mdy', timeZone: 'America/New_York' })
          if (typeof at === 'number') {
            expect(at).toBeGreaterThanOrEqual(Date.UTC(1989, 11, 31))
            expect(at).toBeLessThan(Date.UTC(2101, 0, 2))
          } else expect(at.message).toEndWith('.')
        },
      ),
      { numRuns: atScale({ full: 2_000, soak: 100_000 }) },
    )
  })
})

describe('the dates of a whole file', () => {
  function look(...texts: string[]) {
    const dateOrders = new DateOrders()
    for (const [index, text] of texts.entries()) {
      dateOrders.row = index + 2
      dateOrders.field = 'Created'
      readTime(text, { dateOrder: null, timeZone: 'UTC', dateOrders })
    }
    return dateOrders
  }

  test('have one order when one row decides', () => {
    expect(look('03/04/2025', '13/04/2025', '05/06/2025').decided).toBe('dmy')
    expect(look('03/04/2025', '04/13/2025').decided).toBe('mdy')
    expect(look('03/04/25', '99/12/31').decided).toBe('ymd')
    expect(look('03/04/2025', '13/04/2025').ambiguous).toBeNull()
  })

  test('are asked for when no row decides', () => {
    const { ambiguous, decided } = look('2025-01-02', '03/04/2025', '05/06/2025')
    expect([ambiguous, decided]).toEqual([{ row: 3, field: 'Created', text: '03/04/2025' }, null])
  })

  test('contradict each other when no order allows all of them', () => {
    const { contradiction, decided } = look('03/04/2025', '13/04/2025', '04/13/2025')
    expect(contradiction).toEqual({
      first: { row: 3, field: 'Created', text: '13/04/2025' },
      second: { row: 4, field: 'Created', text: '04/13/2025' },
    })
    expect(decided).toBeNull()
  })

  test('are of no interest where each has one meaning', () => {
    const { ambiguous, contradiction } = look(
      '2025-01-02',
      'Nov 3, 2025',
      '1762185906',
      '2025/04/03',
      'nonsense',
    )
    expect([ambiguous, contradiction]).toEqual([null, null])
  })
})
