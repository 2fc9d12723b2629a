// What a date such as 03/04/2025 means under each order of day, month and year.

import { readTime } from '../../../../server/features/transfer/files/read-time.ts'
import type { DateOrder, InspectionResource } from '../../../../server/features/transfer/schema.ts'

/** As the server reads it. @returns undefined where the date has no such meaning */
function readDateAs(text: string, dateOrder: DateOrder): Date | undefined {
  const at = readTime(text, { dateOrder, timeZone: 'UTC' })
  return typeof at === 'number' ? new Date(at) : undefined
}

const written = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' })

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

/** Dates whose orders make a difference, so that people see it. */
export function pickDateSamples(samples: string[]): string[] {
  const telling = samples.filter(
    (sample) => readDateAs(sample, 'dmy')?.getTime() !== readDateAs(sample, 'mdy')?.getTime(),
  )
  return [...new Set(telling.length > 0 ? telling : samples)].slice(0, SHOWN)
}
