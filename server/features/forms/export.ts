// The submissions of a form as a file, oldest first: read a page at a time while it is sent, so that memory stays the
// same however many there are.

import { sql } from 'kysely'
import { orderedJson } from '../../lib/ordered-json.ts'
import type { Actor } from '../accounts/actor.ts'
import { type CsvColumns, csvColumns, csvHeader, csvRow, FIELD_COLUMNS_MAX } from './csv.ts'
import { findFormId } from './find-form.ts'
import type { ExportFormat, SubmissionSelection } from './schema.ts'
import {
  fieldsOf,
  readSettled,
  SUBMISSION_COLUMNS,
  type SubmissionNeeds,
  selectedSubmissions,
  submissionResource,
} from './submission.ts'

/** A submission is at most a megabyte, and usually one kilobyte. */
const ROWS_AT_ONCE = 50

interface Place {
  created_at: number
  id: number
}

/**
 * Those that were stored when it was asked for, as pieces of text of one page each.
 * @throws Failure `not_found`, before the first piece
 */
export async function exportSubmissions(
  needs: SubmissionNeeds,
  actor: Actor,
  formKey: string,
  { format, ...by }: SubmissionSelection & { format: ExportFormat },
  signal: AbortSignal,
): Promise<AsyncGenerator<string>> {
  const { read } = needs.rows
  const formId = await findFormId(read, actor, formKey)
  const newest = await selectedSubmissions(read, actor, formId, {})
    .select((e) => e.fn.max('submissions.id').as('id'))
    .executeTakeFirst()
  const upTo = Number(newest?.id ?? 0)
  const source = { needs, actor, formId, by, upTo, signal }
  if (format !== 'csv') return jsonPieces(source, format)
  return csvPieces(source, csvColumns(await fieldNames(source)))
}

interface Source {
  needs: SubmissionNeeds
  actor: Actor
  formId: number
  by: SubmissionSelection
  /** Submissions with a higher id came later. */
  upTo: number
  signal: AbortSignal
}

/** Ends early when whoever asked has gone. */
async function* pages<Row extends Place>(
  { upTo, signal }: Pick<Source, 'upTo' | 'signal'>,
  read: (after: Place) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  if (upTo === 0) return
  for (let after: Place = { created_at: Number.MIN_SAFE_INTEGER, id: 0 }; ; ) {
    if (signal.aborted) return
    const rows = await read(after)
    const last = rows.at(-1)
    if (!last) return
    yield rows
    if (rows.length < ROWS_AT_ONCE) return
    after = last
    // SQLite answers in the same turn: redirects must come in between.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const chosen = ({ needs, actor, formId, upTo }: Source, by: SubmissionSelection, after: Place) =>
  selectedSubmissions(needs.rows.read, actor, formId, by)
    .where('submissions.id', '<=', upTo)
    .where(sql<boolean>`(submissions.created_at, submissions.id) > (${after.created_at}, ${after.id})`)
    .orderBy('submissions.created_at')
    .orderBy('submissions.id')
    .limit(ROWS_AT_ONCE)

/** Every name that a submission of the form ever had, whatever the selection: so two exports have the same columns. */
async function fieldNames(source: Source): Promise<Set<string>> {
  const names = new Set<string>()
  const all = pages(source, (after) =>
    chosen(source, {}, after)
      .select(['submissions.id', 'submissions.created_at', 'submissions.fields'])
      .execute(),
  )
  for await (const rows of all) {
    for (const name of rows.flatMap((row) => [...fieldsOf(row).keys()])) {
      if (names.size < FIELD_COLUMNS_MAX) names.add(name)
      else if (!names.has(name)) return names.add(name)
    }
  }
  return names
}

const resources = (source: Source) =>
  pages(source, (after) => {
    const page = chosen(source, source.by, after).select(SUBMISSION_COLUMNS).select('forms.form_key')
    return readSettled(source.needs, source.actor, () => page.execute())
  })

async function* csvPieces(source: Source, columns: CsvColumns): AsyncGenerator<string> {
  yield csvHeader(columns)
  for await (const rows of resources(source)) {
    yield rows.map((row) => csvRow(columns, submissionResource(row))).join('')
  }
}

/** `{"data": […]}` as every answer, or one object a line. */
async function* jsonPieces(source: Source, format: 'json' | 'ndjson'): AsyncGenerator<string> {
  const json = format === 'json'
  if (json) yield '{"data":['
  let first = true
  for await (const rows of resources(source)) {
    const texts = rows.map((row) => orderedJson(submissionResource(row)))
    if (!json) yield texts.map((text) => `${text}\n`).join('')
    else yield `${first ? '' : ',\n'}${texts.join(',\n')}`
    first = false
  }
  if (json) yield ']}\n'
}
