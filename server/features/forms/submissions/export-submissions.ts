// Exports the submissions of a form as a file, oldest first. It reads one page at a time while the file is sent, so
// memory does not grow with the number of submissions.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { toCsvLine } from '../../../lib/formats/csv-line.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { getFormId } from '../settings/form.ts'
import {
  type CsvColumns,
  FIELD_COLUMNS_MAX,
  type TableCell,
  TIME_COLUMNS,
  toCells,
  toCsvColumns,
  toCsvHeader,
} from './csv.ts'
import { readSubmissions, type SubmissionScope, scanSubmissions } from './scan-submissions.ts'
import type { SubmissionExportFormat, SubmissionExportOptions, SubmissionSelection } from './schema.ts'
import {
  parseStoredFields,
  readWithAttribution,
  type SubmissionNeeds,
  type SubmissionRow,
  selectFormSubmissions,
  toSubmissionResource,
} from './submission.ts'
import { writeWorkbook } from './workbook.ts'

/** Cells of one step. Writing them takes some milliseconds. A row can have more than a thousand. */
const CELLS_AT_ONCE = 20_000

/**
 * The file has the submissions that were stored at the time of the request. Each piece holds some rows.
 * @throws Failure `not_found`, before the first piece
 */
export async function exportSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  formKey: string,
  by: SubmissionSelection,
  { format, ...options }: SubmissionExportOptions & { format: SubmissionExportFormat },
  signal: AbortSignal,
): Promise<AsyncGenerator<string | Uint8Array>> {
  const formId = await getFormId(needs.db.read, actor, formKey)
  const newest = await selectFormSubmissions(needs.db, actor, formId, {})
    .select((e) => e.fn.max('submissions.id').as('id'))
    .executeTakeFirst()
  const upTo = Number(newest?.id ?? 0)
  const source = { needs, actor, formId, by: await leaveTestsOut(needs, actor, formId, by), upTo, signal }
  if (format === 'json' || format === 'ndjson') return writeJson(source, format)
  const columns = toCsvColumns(await listFieldNames(source))
  if (format === 'csv') return writeCsv(source, columns, options)
  const toTime = (iso: string) => new Date(`${toWallTime(iso, options.timezone ?? 'UTC')}Z`)
  return writeWorkbook(columns.headers, readRows(source, columns, toTime), TIME_COLUMNS)
}

/** Most forms have no test. Then every row may pass, and only the index is read. */
async function leaveTestsOut(
  { db }: SubmissionNeeds,
  actor: Actor,
  formId: number,
  by: SubmissionSelection,
): Promise<SubmissionSelection> {
  if (by.test !== undefined) return by
  const test = await selectFormSubmissions(db, actor, formId, { test: true })
    .select('submissions.id')
    .limit(1)
    .executeTakeFirst()
  return test ? { ...by, test: false } : by
}

interface ExportSource extends SubmissionScope {
  /** Submissions with a higher id came after the request. */
  upTo: number
  /** Ends the export early when the caller closes the connection. */
  signal: AbortSignal
}

/** The field names of all submissions of the form, whatever the filters, so that two exports have the same columns. */
async function listFieldNames(source: ExportSource): Promise<Set<string>> {
  const names = new Set<string>()
  for await (const step of scanSubmissions({ ...source, by: {} }, 'asc', source)) {
    for (const row of await readSubmissions(source, step)) {
      for (const name of parseStoredFields(row).keys()) {
        if (names.size < FIELD_COLUMNS_MAX) names.add(name)
        else if (!names.has(name)) return names.add(name)
      }
    }
  }
  return names
}

async function* readSteps(source: ExportSource): AsyncGenerator<SubmissionRow[]> {
  for await (const step of scanSubmissions(source, 'asc', source)) {
    const rows = await readWithAttribution(source.needs, source.actor, () => readSubmissions(source, step))
    await takeTurn()
    if (rows.length > 0) yield rows
  }
}

/** Spreadsheets read `2026-03-29 14:05:00` as a time, and no zone behind it. */
const toWallTime = (iso: string, timezone: string) =>
  Temporal.Instant.from(iso)
    .toZonedDateTimeISO(timezone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'second' })
    .replace('T', ' ')

async function* readTable<Time extends TableCell>(
  source: ExportSource,
  columns: CsvColumns,
  toTime: (iso: string) => Time,
): AsyncGenerator<(string | number | Time)[][]> {
  const rowsAtOnce = Math.max(1, Math.floor(CELLS_AT_ONCE / columns.headers.length))
  for await (const rows of readSteps(source)) {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      if (from > 0) await takeTurn()
      const some = rows.slice(from, from + rowsAtOnce)
      yield some.flatMap((row) => {
        const cells = toCells(columns, toSubmissionResource(source.needs, row), toTime)
        return cells ? [cells] : []
      })
    }
  }
}

async function* readRows(...[source, columns, toTime]: Parameters<typeof readTable<Date>>) {
  for await (const rows of readTable(source, columns, toTime)) yield* rows
}

async function* writeCsv(
  source: ExportSource,
  columns: CsvColumns,
  { bom = false, delimiter, timezone }: SubmissionExportOptions,
): AsyncGenerator<string> {
  yield `${bom ? '\ufeff' : ''}${toCsvHeader(columns, delimiter)}`
  const toTime = (iso: string) => (timezone === undefined ? iso : toWallTime(iso, timezone))
  for await (const rows of readTable(source, columns, toTime))
    yield rows.map((cells) => toCsvLine(cells, delimiter)).join('')
}

/** `json` is `{"data": […]}`, as every answer of the API; `ndjson` has one object a line. */
async function* writeJson(source: ExportSource, format: 'json' | 'ndjson'): AsyncGenerator<string> {
  const json = format === 'json'
  if (json) yield '{"data":['
  let first = true
  for await (const rows of readSteps(source)) {
    const texts = rows.map((row) => orderedJson(toSubmissionResource(source.needs, row)))
    if (!json) yield texts.map((text) => `${text}\n`).join('')
    else yield `${first ? '' : ',\n'}${texts.join(',\n')}`
    first = false
  }
  if (json) yield ']}\n'
}
