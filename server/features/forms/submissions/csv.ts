// Submissions as rows of a table: the columns, their headers and the cells, and both as lines of CSV. Field names and
// values come from strangers.

import { toCsvLine, toInertCell } from '../../../lib/formats/csv-line.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import { sumWonValues } from './list-outcomes.ts'
import { CAMPAIGN_FIELDS, SOURCE_FIELDS, type SubmissionResource, VISITOR_FIELDS } from './schema.ts'

/** A sender can make up any number of names, and each column costs a cell in every row. A submission has 256 fields. */
export const FIELD_COLUMNS_MAX = 1_000

type OwnColumn = Exclude<
  keyof SubmissionResource,
  | 'fields'
  | 'spamReasons'
  | 'consent'
  | 'outcomes'
  | 'adClickIds'
  | 'formKey'
  | 'formName'
  | 'link'
  | 'assigneeId'
>

const COLUMNS_BEFORE_FIELDS: OwnColumn[] = ['id', 'createdAt', 'status']
const COLUMNS_AFTER_FIELDS: OwnColumn[] = [
  'files',
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
/** This column has, as JSON, the fields without a column. */
const MORE_FIELDS = 'moreFields'
const OUTCOME_COLUMNS = ['outcome', 'outcomeValue', 'outcomeCurrency'] as const
const CONSENT_COLUMNS = ['consent', 'consentAt'] as const

export interface CsvColumns {
  /** The names of fields, in the order of their columns. */
  fields: ReadonlySet<string>
  headers: string[]
  /** The form has more than FIELD_COLUMNS_MAX fields. */
  more: boolean
}

/** @param names in the order of their columns; only the first FIELD_COLUMNS_MAX get a column */
export function toCsvColumns(names: ReadonlySet<string>): CsvColumns {
  const fields = [...names].slice(0, FIELD_COLUMNS_MAX)
  const more = names.size > FIELD_COLUMNS_MAX
  const after = [
    ...(more ? [MORE_FIELDS] : []),
    ...COLUMNS_AFTER_FIELDS,
    ...OUTCOME_COLUMNS,
    ...CONSENT_COLUMNS,
  ]
  // A field never gets the header of one of our columns, nor the escaped header of another field.
  const usedHeaders = new Set<string>([
    ...COLUMNS_BEFORE_FIELDS,
    ...COLUMNS_AFTER_FIELDS,
    ...OUTCOME_COLUMNS,
    ...CONSENT_COLUMNS,
    MORE_FIELDS,
  ])
  const headerByName = new Map<string, string>()
  const plain = fields.filter((name) => !usedHeaders.has(toInertCell(name)))
  for (const name of [...plain, ...fields]) {
    if (headerByName.has(name)) continue
    let header = toInertCell(name)
    while (usedHeaders.has(header)) header = `fields.${header}`
    usedHeaders.add(header)
    headerByName.set(name, header)
  }
  const headers = [
    ...COLUMNS_BEFORE_FIELDS,
    ...fields.map((name) => headerByName.get(name) ?? name),
    ...after,
  ]
  return { fields: new Set(fields), headers, more }
}

export const toCsvHeader = ({ headers }: CsvColumns, delimiter?: string) => toCsvLine(headers, delimiter)

/** The columns whose cells are times, beside those of fields. */
export const TIME_COLUMNS = ['createdAt', 'consentAt'] as const

/** The cells of a CSV file are texts; those of a workbook have types. */
export type TableCell = string | number | Date | null

/**
 * @param toTime writes a time
 * @returns undefined where a field has no column: the submission came after the columns were counted
 */
export function toCells<Time extends TableCell>(
  { fields, more }: CsvColumns,
  submission: SubmissionResource,
  toTime: (iso: string) => Time,
): (string | number | Time)[] | undefined {
  const own = (name: OwnColumn) => {
    const value = submission[name]
    if (name === 'createdAt') return toTime(submission.createdAt)
    if (typeof value === 'number') return value
    return Array.isArray(value) ? value.map((file) => file.name).join(', ') : toText(value)
  }
  const rest = [...submission.fields].filter(([name]) => !fields.has(name))
  if (rest.length > 0 && !more) return undefined
  const values = Array.from(fields, (name) => submission.fields.get(name) ?? '')
  return [
    ...COLUMNS_BEFORE_FIELDS.map(own),
    ...values,
    ...(more ? [rest.length > 0 ? orderedJson(new Map(rest)) : ''] : []),
    ...COLUMNS_AFTER_FIELDS.map(own),
    ...toOutcomeCells(submission.outcomes),
    submission.consent?.text ?? '',
    submission.consent ? toTime(submission.consent.at) : '',
  ]
}

/** The latest stage, and the won values. Values in several currencies are listed side by side. */
function toOutcomeCells(outcomes: SubmissionResource['outcomes']): string[] {
  const won = sumWonValues(outcomes)
  const join = (name: 'value' | 'currency') => won.map((each) => each[name]).join(', ')
  return [outcomes.at(-1)?.stage ?? '', join('value'), join('currency')]
}

const toText = (value: string | boolean | null) => (value === null ? '' : String(value))
