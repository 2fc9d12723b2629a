// The texts of the import page about dates whose order is not clear.

import { expect, test } from 'bun:test'
import {
  describeDateOrder,
  listDates,
  pickDateSamples,
} from '../../dashboard/pages/transfer/new/date-order.ts'
import { readTime } from '../../server/features/transfer/files/read-time.ts'

test('each order says what a date means, and an order that it cannot have says nothing', () => {
  const samples = ['03/04/2025', '25/12/2024']
  expect(describeDateOrder(samples, 'dmy')).toContain('03/04/2025 is ')
  expect(describeDateOrder(samples, 'dmy')).toContain('25/12/2024 is ')
  expect(describeDateOrder(samples, 'mdy')).not.toContain('25/12/2024')
  expect(describeDateOrder(samples, 'ymd')).toBe('')
})

test('the orders of a date are those that the server would choose from', () => {
  const orders = ['dmy', 'mdy', 'ymd'] as const
  const dates = [
    '03/04/2025',
    '3.4.25 14:05',
    '05-06-07',
    '29/02/2023',
    '2025/03/04',
    '11/12/99',
    '2025-13-40',
    'yesterday',
  ]
  for (const text of dates) {
    const shown = orders.map((order) => describeDateOrder([text], order) !== '')
    const read = orders.map((dateOrder) => typeof readTime(text, { dateOrder, timeZone: 'UTC' }) === 'number')
    // A year of four digits in front settles the order, whatever was said.
    expect([text, shown]).toEqual([text, /^\d{4}/.test(text) ? [false, false, read[2] as boolean] : read])
  }
})

test('two dates are shown that differ by their order', () => {
  expect(pickDateSamples(['04/04/2025', '03/04/2025', '03/04/2025', '05/06/2025', '07/08/2025'])).toEqual([
    '03/04/2025',
    '05/06/2025',
  ])
  expect(pickDateSamples(['04/04/2025'])).toEqual(['04/04/2025'])
})

test('examples are of the column with the date that is not clear', () => {
  const columns = [
    { name: 'Until', samples: ['01/02/2026'] },
    { name: 'Created', samples: ['03/04/2025', '05/06/2025'] },
  ]
  const inspection = { columns, dateSamples: ['03/04/2025'] } as Parameters<typeof listDates>[0]
  expect(listDates(inspection)).toEqual(['03/04/2025', '03/04/2025', '05/06/2025'])
})
