// Submissions as CSV (RFC 4180): which columns there are, what they are called, and how a cell is written. Names and
// values are a stranger's text.

import { orderedJson } from '../../lib/ordered-json.ts'
import { CAMPAIGN, PLACES, SOURCES, type SubmissionResource } from './schema.ts'

/** A spreadsheet has 16,384 columns. A sender could make up more names than anybody has room for. */
export const FIELD_COLUMNS_MAX = 16_000

type Own = Exclude<keyof SubmissionResource, 'fields' | 'formKey'>

const BEFORE: Own[] = ['id', 'createdAt', 'status']
const AFTER: Own[] = [
  'notes',
  'email',
  'duplicateOf',
  ...SOURCES,
  ...CAMPAIGN,
  'linkId',
  'clickId',
  'eventId',
  'sessionLinked',
  'attribution',
  ...PLACES,
]
/** Holds, as JSON, the fields that have no column of their own. */
const MORE = 'moreFields'

export interface CsvColumns {
  /** The names of fields, in the order of their columns. */
  fields: ReadonlySet<string>
  headers: string[]
  /** Are there fields beyond FIELD_COLUMNS_MAX? */
  more: boolean
}

/** @param names in the order of their columns; more than FIELD_COLUMNS_MAX where not all of them can have one */
export function csvColumns(names: ReadonlySet<string>): CsvColumns {
  const fields = [...names].slice(0, FIELD_COLUMNS_MAX)
  const more = names.size > FIELD_COLUMNS_MAX
  const after = more ? [MORE, ...AFTER] : AFTER
  // A sender's name never takes a column of ours, nor one that another name looks like once it is inert.
  const taken = new Set<string>([...BEFORE, ...AFTER, MORE])
  const headerOf = new Map<string, string>()
  const plain = fields.filter((name) => !taken.has(inert(name)))
  for (const name of [...plain, ...fields]) {
    if (headerOf.has(name)) continue
    let header = inert(name)
    while (taken.has(header)) header = `fields.${header}`
    taken.add(header)
    headerOf.set(name, header)
  }
  const headers = [...BEFORE, ...fields.map((name) => headerOf.get(name) ?? name), ...after]
  return { fields: new Set(fields), headers, more }
}

export const csvHeader = ({ headers }: CsvColumns) => line(headers)

/** @returns '' where a field has no column: a submission that was not there yet when the columns were counted */
export function csvRow({ fields, more }: CsvColumns, submission: SubmissionResource): string {
  const own = (name: Own) => textOf(submission[name])
  const rest = [...submission.fields].filter(([name]) => !fields.has(name))
  if (rest.length > 0 && !more) return ''
  const values = Array.from(fields, (name) => submission.fields.get(name) ?? '')
  return line([
    ...BEFORE.map(own),
    ...values,
    ...(more ? [rest.length > 0 ? orderedJson(new Map(rest)) : ''] : []),
    ...AFTER.map(own),
  ])
}

const textOf = (value: string | number | boolean | null) => (value === null ? '' : String(value))

const line = (cells: string[]) => `${cells.map((cell) => quoted(inert(cell))).join()}\r\n`

/** A spreadsheet takes what begins so for a formula; with an apostrophe in front it is text (OWASP, CSV injection). */
const inert = (cell: string) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)

const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
