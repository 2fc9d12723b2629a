// Examples of a date such as 03/04/2025 under each order of day, month and year.

import type { DateOrder, InspectionResource } from '../../../../server/features/transfer/schema.ts'
import { locale } from '../../../api/language.ts'

/** The same as `server/features/transfer/files/read-time.ts`. */
const NUMERIC = /^(\d{1,4})([/.-])(\d{1,2})\2(\d{1,4})(?!\d)/
const LONG_YEAR = 4
const FIRST_YEAR = 1990

/** @returns undefined where the date has no such meaning */
function readDateAs(text: string, order: DateOrder): Date | undefined {
  const [, first = '', , second = '', last = ''] = NUMERIC.exec(text.trim()) ?? []
  const isYearFirst = order === 'ymd'
  if (first.length === LONG_YEAR ? !isYearFirst : isYearFirst && last.length === LONG_YEAR) return undefined
  const parts = [first, second, last].map(Number)
  const [year = 0, month = 0, day = 0] = [...'ymd'].map((part) => parts[order.indexOf(part)])
  const date = new Date(Date.UTC(toLongYear(year), month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : undefined
}

/** Years of two digits are those from 1990 to 2089. */
const toLongYear = (year: number) =>
  year >= 100 ? year : year >= FIRST_YEAR - 1900 ? 1900 + year : 2000 + year

const written = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })

/** `03/04/2025 is 3 April 2025, 05/06/2025 is 5 June 2025`; '' where no sample has a meaning in this order. */
export const describeDateOrder = (samples: string[], order: DateOrder): string =>
  samples
    .flatMap((sample) => {
      const date = readDateAs(sample, order)
      return date ? [`${sample} is ${written.format(date)}`] : []
    })
    .join(', ')

/** The dates with more than one meaning, and the others of their column. */
export const listDates = ({ columns, dateSamples }: InspectionResource): string[] => [
  ...dateSamples,
  ...columns
    .filter(({ samples }) => samples.some((sample) => dateSamples.includes(sample)))
    .flatMap(({ samples }) => samples),
]

const SHOWN = 2

/** Examples of dates that the order changes. */
export function pickDateSamples(samples: string[]): string[] {
  const telling = samples.filter(
    (sample) => readDateAs(sample, 'dmy')?.getTime() !== readDateAs(sample, 'mdy')?.getTime(),
  )
  return [...new Set(telling.length > 0 ? telling : samples)].slice(0, SHOWN)
}
