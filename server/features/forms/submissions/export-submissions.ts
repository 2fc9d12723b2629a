// Exports the submissions of a form as a file, oldest first. It reads one page at a time while the file is sent, so
// memory does not grow with the number of submissions.

import { sql } from 'kysely'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { SubmissionExportFormat, SubmissionSelection } from '../schema.ts'
import { getFormId } from '../settings/get-form.ts'
import { type CsvColumns, FIELD_COLUMNS_MAX, toCsvColumns, toCsvHeader, toCsvRow } from './csv.ts'
import {
  parseStoredFields,
  readWithAttribution,
  SUBMISSION_COLUMNS,
  type SubmissionNeeds,
  selectFormSubmissions,
  toSubmissionResource,
} from './submission.ts'

/** A submission has at most a megabyte, and usually a kilobyte. */
const ROWS_AT_ONCE = 50

interface Position {
  created_at: number
  id: number
}

/**
 * The file has the submissions that were stored at the time of the request. Each yielded text holds one page.
 * @throws Failure `not_found`, before the first piece
 */
export async function exportSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  formKey: string,
  { format, ...by }: SubmissionSelection & { format: SubmissionExportFormat },
  signal: AbortSignal,
): Promise<AsyncGenerator<string>> {
  const formId = await getFormId(needs.db.read, actor, formKey)
  const newest = await selectFormSubmissions(needs.db, actor, formId, {})
    .select((e) => e.fn.max('submissions.id').as('id'))
    .executeTakeFirst()
  const upTo = Number(newest?.id ?? 0)
  const source = { needs, actor, formId, by, upTo, signal }
  if (format !== 'csv') return writeJson(source, format)
  return writeCsv(source, toCsvColumns(await listFieldNames(source)))
}

interface ExportSource {
  needs: SubmissionNeeds
  actor: Actor
  formId: number
  by: SubmissionSelection
  /** Submissions with a higher id came after the request. */
  upTo: number
  signal: AbortSignal
}

/** Ends early when the caller closes the connection. */
async function* readPages<Row extends Position>(
  { upTo, signal }: Pick<ExportSource, 'upTo' | 'signal'>,
  read: (after: Position) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  if (upTo === 0) return
  for (let after: Position = { created_at: Number.MIN_SAFE_INTEGER, id: 0 }; ; ) {
    if (signal.aborted) return
    const rows = await read(after)
    const last = rows.at(-1)
    if (!last) return
    yield rows
    if (rows.length < ROWS_AT_ONCE) return
    after = last
    // SQLite answers without a turn of the event loop. This pause lets redirects run in between.
    await nextTurn()
  }
}

const selectExportPage = (
  { needs, actor, formId, upTo }: ExportSource,
  by: SubmissionSelection,
  after: Position,
) =>
  selectFormSubmissions(needs.db, actor, formId, by)
    .where('submissions.id', '<=', upTo)
    .where(sql<boolean>`(submissions.created_at, submissions.id) > (${after.created_at}, ${after.id})`)
    .orderBy('submissions.created_at')
    .orderBy('submissions.id')
    .limit(ROWS_AT_ONCE)

/** The field names of all submissions of the form, whatever the filters, so that two exports have the same columns. */
async function listFieldNames(source: ExportSource): Promise<Set<string>> {
  const names = new Set<string>()
  const all = readPages(source, (after) =>
    selectExportPage(source, {}, after)
      .select(['submissions.id', 'submissions.created_at', 'submissions.fields'])
      .execute(),
  )
  for await (const rows of all) {
    for (const name of rows.flatMap((row) => [...parseStoredFields(row).keys()])) {
      if (names.size < FIELD_COLUMNS_MAX) names.add(name)
      else if (!names.has(name)) return names.add(name)
    }
  }
  return names
}

const readSubmissionPages = (source: ExportSource) =>
  readPages(source, (after) => {
    const page = selectExportPage(source, source.by, after)
      .select(SUBMISSION_COLUMNS)
      .select('forms.form_key')
    return readWithAttribution(source.needs, source.actor, () => page.execute())
  })

async function* writeCsv(source: ExportSource, columns: CsvColumns): AsyncGenerator<string> {
  yield toCsvHeader(columns)
  for await (const rows of readSubmissionPages(source)) {
    yield rows.map((row) => toCsvRow(columns, toSubmissionResource(row))).join('')
  }
}

/** `json` is `{"data": […]}`, as every answer of the API; `ndjson` has one object a line. */
async function* writeJson(source: ExportSource, format: 'json' | 'ndjson'): AsyncGenerator<string> {
  const json = format === 'json'
  if (json) yield '{"data":['
  let first = true
  for await (const rows of readSubmissionPages(source)) {
    const texts = rows.map((row) => orderedJson(toSubmissionResource(row)))
    if (!json) yield texts.map((text) => `${text}\n`).join('')
    else yield `${first ? '' : ',\n'}${texts.join(',\n')}`
    first = false
  }
  if (json) yield ']}\n'
}
