// Submissions as CSV (RFC 4180): which columns there are, what they are called, and how a cell is written. Names and
// values are a stranger's text.

import { orderedJson } from '../../../lib/ordered-json.ts'
import { CAMPAIGN_FIELDS, SOURCE_FIELDS, type SubmissionResource, VISITOR_FIELDS } from '../schema.ts'

/** A spreadsheet has 16,384 columns. A sender could make up more names than anybody has room for. */
export const FIELD_COLUMNS_MAX = 16_000

type OwnColumn = Exclude<keyof SubmissionResource, 'fields' | 'formKey'>

const COLUMNS_BEFORE_FIELDS: OwnColumn[] = ['id', 'createdAt', 'status']
const COLUMNS_AFTER_FIELDS: OwnColumn[] = [
  'notes',
  'email',
  'duplicateOf',
  ...SOURCE_FIELDS,
  ...CAMPAIGN_FIELDS,
  'linkId',
  'clickId',
  'eventId',
  'sessionLinked',
  'attribution',
  ...VISITOR_FIELDS,
]
/** Holds, as JSON, the fields that have no column of their own. */
const MORE_FIELDS = 'moreFields'

export interface CsvColumns {
  /** The names of fields, in the order of their columns. */
  fields: ReadonlySet<string>
  headers: string[]
  /** Are there fields beyond FIELD_COLUMNS_MAX? */
  more: boolean
}

/** @param names in the order of their columns; more than FIELD_COLUMNS_MAX where not all of them can have one */
export function toCsvColumns(names: ReadonlySet<string>): CsvColumns {
  const fields = [...names].slice(0, FIELD_COLUMNS_MAX)
  const more = names.size > FIELD_COLUMNS_MAX
  const after = more ? [MORE_FIELDS, ...COLUMNS_AFTER_FIELDS] : COLUMNS_AFTER_FIELDS
  // A sender's name never takes a column of ours, nor one that another name looks like once it is inert.
  const taken = new Set<string>([...COLUMNS_BEFORE_FIELDS, ...COLUMNS_AFTER_FIELDS, MORE_FIELDS])
  const headerOf = new Map<string, string>()
  const plain = fields.filter((name) => !taken.has(escapeFormula(name)))
  for (const name of [...plain, ...fields]) {
    if (headerOf.has(name)) continue
    let header = escapeFormula(name)
    while (taken.has(header)) header = `fields.${header}`
    taken.add(header)
    headerOf.set(name, header)
  }
  const headers = [...COLUMNS_BEFORE_FIELDS, ...fields.map((name) => headerOf.get(name) ?? name), ...after]
  return { fields: new Set(fields), headers, more }
}

export const toCsvHeader = ({ headers }: CsvColumns) => toLine(headers)

/** @returns '' where a field has no column: a submission that was not there yet when the columns were counted */
export function toCsvRow({ fields, more }: CsvColumns, submission: SubmissionResource): string {
  const own = (name: OwnColumn) => toText(submission[name])
  const rest = [...submission.fields].filter(([name]) => !fields.has(name))
  if (rest.length > 0 && !more) return ''
  const values = Array.from(fields, (name) => submission.fields.get(name) ?? '')
  return toLine([
    ...COLUMNS_BEFORE_FIELDS.map(own),
    ...values,
    ...(more ? [rest.length > 0 ? orderedJson(new Map(rest)) : ''] : []),
    ...COLUMNS_AFTER_FIELDS.map(own),
  ])
}

const toText = (value: string | number | boolean | null) => (value === null ? '' : String(value))

const toLine = (cells: string[]) => `${cells.map((cell) => quoteCell(escapeFormula(cell))).join()}\r\n`

/** A spreadsheet takes what begins so for a formula; with an apostrophe in front it is text (OWASP, CSV injection). */
const escapeFormula = (cell: string) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)

const quoteCell = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
