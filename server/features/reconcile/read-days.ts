// Reads the days of another tool's CSV: GA4 (comments, several tables, days by number), Plausible, Bitly, and any file
// with a column of dates and one of numbers. Nothing is guessed: what cannot be read is named with its row.

import { invalid } from '../../lib/failure.ts'
import { quote } from '../../lib/text.ts'
import { DAY_MS, toUtcDay } from '../../lib/utc-day.ts'
import { DateOrders } from '../transfer/files/date-orders.ts'
import { toPlainName } from '../transfer/files/fields.ts'
import { readCsvText } from '../transfer/files/open-source-file.ts'
import { readTime } from '../transfer/files/read-time.ts'
import type { FileRecord } from '../transfer/files/source-file.ts'
import { DAYS_MAX, type ReconciledMetric, type ReconcileInput, type Reconciliation } from './schema.ts'

export interface TheirDays {
  tool: Reconciliation['tool']
  dateColumn: string
  countColumn: string
  metric: ReconciledMetric
  /** `2026-01-31` → their number. */
  counts: Map<string, number>
  /** A day has several rows. */
  addsRows: boolean
}

type Options = Pick<ReconcileInput, 'metric' | 'countColumn' | 'dateOrder'>

const DATE_COLUMNS = ['date', 'day', 'nthday', 'datehour', 'datehourandminute', 'time', 'timestamp', 'period']
/** What counts the same things as a click comes first. */
const COUNT_COLUMNS: [name: string, metric: ReconciledMetric][] = [
  ...['clicks', 'totalclicks', 'linkclicks', 'clicksscans', 'engagements', 'totalengagements'].map(
    (name): [string, ReconciledMetric] => [name, 'clicks'],
  ),
  ...[
    'visits',
    'sessions',
    'totalsessions',
    'pageviews',
    'views',
    'screenpageviews',
    'eventcount',
    'hits',
    'scans',
  ].map((name): [string, ReconciledMetric] => [name, 'clicks']),
  ...['visitors', 'uniquevisitors', 'activeusers', 'totalusers', 'users', 'uniqueclicks', 'uniques'].map(
    (name): [string, ReconciledMetric] => [name, 'visitors'],
  ),
]
/** A row of sums has one of these in place of a day. */
const SUMS = ['', 'total', 'totals', 'grandtotal', 'sum', '(total)']

const toKey = (name: string) =>
  toPlainName(
    name
      .replace(/\([^()]*\)/g, '')
      .replace(/[&+]/g, '')
      .trim(),
  )

/** @throws Failure `invalid` for a text that is no such table */
export function readDays(text: string, options: Options): TheirDays {
  const tables = splitTables(text.replace(/^\ufeff/, ''))
  const read = tables.map((table) => readTable(table.text))
  const found = read.findIndex(({ columns }) => findDateColumn(columns) && findCountColumn(columns, options))
  if (found === -1) throw toColumnFailure(read[0]?.columns ?? [], options)
  const { columns, records } = read[found] as (typeof read)[number]
  const [dateColumn, [countColumn, metric]] = [
    findDateColumn(columns) as string,
    findCountColumn(columns, options) as [string, ReconciledMetric],
  ]
  const startDate = tables[found]?.startDate
  const rows = records.filter(({ fields }) => !SUMS.includes(toKey(String(fields.get(dateColumn) ?? ''))))
  const readDay = createDayReader(rows, { dateColumn, startDate, ...options })
  const counts = new Map<string, number>()
  let addsRows = false
  for (const record of rows) {
    if (record.problem) throw wrongRow(record, record.problem.message)
    const day = readDay(record)
    addsRows ||= counts.has(day)
    counts.set(day, (counts.get(day) ?? 0) + readCount(record, countColumn))
  }
  if (counts.size === 0) throw invalid({ csv: 'has no row of a day' })
  requireShortRange(counts)
  const tool = recognizeTool(columns, tables[found]?.hasComments === true)
  return { tool, dateColumn, countColumn, metric: options.metric ?? metric, counts, addsRows }
}

function requireShortRange(counts: Map<string, number>): void {
  const days = [...counts.keys()].sort()
  const [first, last] = [days[0] as string, days.at(-1) as string]
  if (Date.parse(last) - Date.parse(first) >= DAYS_MAX * DAY_MS)
    throw invalid({ csv: `must be at most ${DAYS_MAX} days: it has days from ${first} to ${last}` })
}

interface TextTable {
  text: string
  hasComments: boolean
  /** GA4 numbers the days from here on. */
  startDate: string | undefined
}

/** GA4 writes comments (`# Start date: 20260101`) and several tables with empty lines between them. */
function splitTables(text: string): TextTable[] {
  if (!/^#/m.test(text)) return [{ text, hasComments: false, startDate: undefined }]
  const tables: TextTable[] = []
  let [lines, startDate]: [string[], string | undefined] = [[], undefined]
  const close = () => {
    if (lines.length > 0) tables.push({ text: lines.join('\n'), hasComments: true, startDate })
    lines = []
  }
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.startsWith('#')) {
      close()
      startDate = /^# ?start date: ?(\d{8})/i.exec(line)?.[1] ?? startDate
    } else if (line.trim() === '') close()
    else lines.push(line)
  }
  close()
  return tables
}

function readTable(text: string): ReturnType<typeof readCsvText> {
  if (/^\s*(?:[{[]|<[!a-z?])/i.test(text.slice(0, 200)))
    throw invalid({ csv: 'is not a CSV file: it begins like JSON or HTML. Export the table as CSV' })
  return readCsvText(text)
}

const findDateColumn = (columns: string[]) => columns.find((name) => DATE_COLUMNS.includes(toKey(name)))

function findCountColumn(
  columns: string[],
  { countColumn }: Pick<Options, 'countColumn'>,
): [name: string, metric: ReconciledMetric] | undefined {
  if (countColumn !== undefined) {
    const name = columns.find((column) => toPlainName(column) === toPlainName(countColumn))
    const metric = COUNT_COLUMNS.find(([key]) => key === toKey(countColumn))?.[1] ?? 'clicks'
    return name === undefined ? undefined : [name, metric]
  }
  for (const [key, metric] of COUNT_COLUMNS) {
    const name = columns.find((column) => toKey(column) === key)
    if (name !== undefined) return [name, metric]
  }
  return undefined
}

function toColumnFailure(columns: string[], { countColumn }: Pick<Options, 'countColumn'>) {
  const shown = columns.slice(0, 20).map(quote).join(', ')
  if (countColumn !== undefined && findDateColumn(columns))
    return invalid({ countColumn: `is not a column of the file. Its columns are ${shown}` })
  const missing = findDateColumn(columns)
    ? 'column of numbers, such as Clicks, Sessions or Users'
    : 'column named Date'
  return invalid({ csv: `has no ${missing}. Its columns are ${shown || 'none'}` })
}

/** @throws Failure `invalid` for a day that cannot be read, or that can be two */
function createDayReader(
  rows: FileRecord[],
  { dateColumn, startDate, dateOrder }: { dateColumn: string; startDate: string | undefined } & Options,
): (record: FileRecord) => string {
  const key = toKey(dateColumn)
  const read = (record: FileRecord) => String(record.fields.get(dateColumn) ?? '').trim()
  if (key === 'nthday') {
    const start = startDate && readTime(toIsoDate(startDate), { dateOrder: null, timeZone: 'UTC' })
    if (typeof start !== 'number')
      throw invalid({ csv: 'numbers its days (Nth day) and has no line “# Start date: 20260101”' })
    return (record) => {
      const text = read(record)
      if (!/^\d{1,4}$/.test(text)) throw wrongRow(record, `${quote(text)} is not the number of a day`)
      return toUtcDay(start + Number(text) * DAY_MS)
    }
  }
  const dateOrders = new DateOrders()
  // The other rows may decide the order of 03/04/2026.
  for (const record of rows) readTime(read(record), { dateOrder: null, timeZone: 'UTC', dateOrders })
  const order = dateOrder ?? dateOrders.decided
  return (record) => {
    const text = read(record)
    const written = key.startsWith('datehour') ? text.slice(0, 8) : text
    // The zone of a time does not matter: the day is the one that is written.
    const day = /^\d{8}$/.test(written)
      ? toIsoDate(written)
      : written.replace(/(\d)(?: ?Z|[+-]\d\d:?\d\d)$/i, '$1')
    const at = readTime(/^\d{4}-\d\d-\d\d$/.test(written) ? written : day, {
      dateOrder: order,
      timeZone: 'UTC',
    })
    if (typeof at === 'number') return toUtcDay(at)
    if (order === null && dateOrders.ambiguous)
      throw invalid({ dateOrder: `is required: ${quote(text)} can be two days. It is one of ymd, dmy, mdy` })
    throw wrongRow(record, `${quote(text)}: ${at.message}`)
  }
}

const toIsoDate = (digits: string) => `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}`

/** A count has no decimals, so a point or a comma before three digits separates thousands. */
const COUNT = /^\d{1,12}$|^\d{1,3}(?:[.,'’\s\u00a0\u202f]\d{3}){1,4}$|^\d{1,12}[.,]0{1,2}$/

function readCount(record: FileRecord, column: string): number {
  const text = String(record.fields.get(column) ?? '').trim()
  if (!COUNT.test(text)) throw wrongRow(record, `${quote(text)} in ${quote(column)} is not a whole number`)
  return Number(text.replace(/[.,]0{1,2}$/, '').replace(/\D/g, ''))
}

const wrongRow = ({ row }: FileRecord, message: string) => invalid({ csv: `row ${row}: ${message}` })

function recognizeTool(columns: string[], hasComments: boolean): Reconciliation['tool'] {
  const keys = columns.map(toKey)
  const has = (...names: string[]) => names.some((name) => keys.includes(name))
  if (hasComments || has('nthday', 'activeusers', 'eventcount', 'datehour')) return 'ga4'
  if (has('bouncerate', 'viewspervisit', 'visitduration') && has('visitors')) return 'plausible'
  return has('engagements', 'totalengagements', 'clicksscans', 'totalclicks') ? 'bitly' : null
}
