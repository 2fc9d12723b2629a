import { expect, test } from 'bun:test'
import { isTimeZone, parseDateRange } from './date-range.ts'

const at = (text: string) => Date.parse(text)

test.each([
  ['2026-03-29', '2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'],
  ['2024-02-29', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z'],
  ['2026-03-29T12:00:00Z', '2026-03-29T12:00:00Z', '2026-03-29T12:00:00Z'],
  ['2026-03-29T12:00', '2026-03-29T12:00:00Z', '2026-03-29T12:00:00Z'],
  ['2026-03-29T12:00:00.5+02:00', '2026-03-29T10:00:00.500Z', '2026-03-29T10:00:00.500Z'],
  ['2026-03-29T12:00:00 02:00', '2026-03-29T10:00:00Z', '2026-03-29T10:00:00Z'],
])('%s is from %s to %s', (text, start, end) => {
  expect(parseDateRange(text)).toEqual({ start: at(start), end: at(end) })
})

test.each([
  '',
  '2026',
  '2026-02-30',
  '2026-13-01',
  '2026-03-29T25:00:00Z',
  '29.03.2026',
  'now',
  '1774785600000',
])('%p is no moment', (text) => {
  expect(parseDateRange(text)).toBeUndefined()
})

test('zones are IANA names', () => {
  expect(
    ['UTC', 'Europe/Berlin', 'europe/berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'].every(
      isTimeZone,
    ),
  ).toBe(true)
  expect(['', '+02:00', 'Berlin', 'Europe/Atlantis', 'Z\0', '-05', '../etc'].some(isTimeZone)).toBe(false)
})
