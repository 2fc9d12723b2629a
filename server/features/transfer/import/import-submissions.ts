// The stages `check` and `links` of an import of submissions: stores those of another form service in a form. Nobody is
// notified and no sender is answered: that has happened where they were sent.

import { createHash } from 'node:crypto'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { foldMarks } from '../../../lib/text.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { toCampaignColumns } from '../../visitors/campaign-columns.ts'
import { FileProblem } from '../files/source-file.ts'
import type { DescribedSubmission, SubmissionRowReading } from '../reader/protocol.ts'
import { IMPORTED_BEFORE, toCreated, toFailed, toSkipped } from '../workspace/archive-import.ts'
import { hashEditableFields } from '../workspace/hash-editable-fields.ts'
import { deleteDryRunRows, getPosition } from './import-links.ts'
import { type ImportRun, updateRun } from './import-run.ts'
import { plus, type StoredRow, storeFigures } from './store-figures.ts'

/** Goes on where the import was. @throws FileProblem */
export async function importSubmissions(run: ImportRun): Promise<void> {
  if (run.row.stage === 'check') await checkSubmissionFile(run)
  if (run.row.stage === 'clicks') return
  const { needs, reader, file, reading: options, isDryRun } = run
  if (isDryRun) await deleteDryRunRows(run)
  const skip = isDryRun ? 0 : await getPosition(run)
  const dryRunKeys = new Set<string>()
  const input = { file, options, skip, geoPath: needs.geoPath }
  await reader.run('submissions', input, async ({ readings }) => {
    await storeSubmissions(run, readings, dryRunKeys)
    // Redirects, and other writers, come between two batches.
    await nextTurn()
    return null
  })
  await needs.db.write((connection) =>
    updateRun(connection, run, 'links', { stage: 'clicks', total: null, position: 0 }),
  )
}

/** Reads the file to its end, and changes nothing. */
async function checkSubmissionFile(run: ImportRun): Promise<void> {
  const { needs, reader, file, reading: options } = run
  const checked = await reader.run('checkSubmissions', { file, options }, async () => {
    await needs.db.write((connection) => updateRun(connection, run, 'check', { total: null }))
    return null
  })
  run.options.linksDateOrder = checked.dateOrder
  run.reading = { ...run.reading, dateOrder: checked.dateOrder }
  const { rows } = checked
  const changes = { stage: 'links', options: JSON.stringify(run.options), rows, total: rows, position: 0 }
  await needs.db.write((connection) => updateRun(connection, run, 'check', changes))
}

async function storeSubmissions(
  run: ImportRun,
  readings: SubmissionRowReading[],
  dryRunKeys: Set<string>,
): Promise<void> {
  await run.needs.db.write(async (connection) => {
    // First, because it locks the row of the import: an undo that is asked for now waits for this batch.
    await updateRun(connection, run, 'links', { position: plus('position', readings.length) })
    await requireForm(connection, run)
    const rows: StoredRow[] = []
    const known = await findEarlier(connection, run, readings)
    for (const { row, key, submission, problems } of readings) {
      if (!submission) {
        const [{ field, value, message } = { field: '', value: null, message: 'The row cannot be read.' }] =
          problems
        rows.push({ row, outcome: toFailed(ITEM, { field: field || null, value, message }) })
      } else if (known.has(key) || dryRunKeys.has(key)) {
        const isEarlier = known.has(key) && known.get(key) !== run.row.id
        const message = isEarlier ? IMPORTED_BEFORE : 'The file has this submission twice.'
        rows.push({ row, outcome: toSkipped(ITEM, message) })
      } else {
        const id = run.isDryRun ? null : await insertImported(connection, run, key, submission)
        if (id === null) dryRunKeys.add(key)
        else known.set(key, run.row.id)
        const created = toCreated(ITEM, { id: id ?? 0, updated_at: hashEditableFields(toState(submission)) })
        rows.push({ row, outcome: id === null ? { ...created, itemId: null, updatedAt: null } : created })
      }
    }
    await storeFigures(connection, run, rows)
  })
}

/** Without a name: the list of rows outlives an erasure of the sender. */
const ITEM = { kind: 'submission', name: null } as const

const getFormId = ({ options }: ImportRun): number => {
  if (!options.form) throw new Error('the import has no form')
  return options.form.id
}

/** @throws FileProblem */
async function requireForm(connection: Connection, run: ImportRun): Promise<void> {
  const form = await connection
    .selectFrom('forms')
    .select('id')
    .where('workspace_id', '=', run.row.workspace_id)
    .where('id', '=', getFormId(run))
    .executeTakeFirst()
  if (!form) throw new FileProblem('The form was deleted while its submissions were imported.')
}

/** @returns the imports that have brought submissions of these keys. One that was deleted since may come again. */
async function findEarlier(connection: Connection, run: ImportRun, readings: SubmissionRowReading[]) {
  const byKey = new Map(readings.map(({ key }) => [toStoredKey(run, key), key]))
  const rows = await connection
    .selectFrom('import_keys')
    .innerJoin('submissions', 'submissions.id', 'import_keys.link_id')
    .select(['source_key', 'import_id'])
    .where('import_keys.workspace_id', '=', run.row.workspace_id)
    .where('submissions.workspace_id', '=', run.row.workspace_id)
    .where('source', '=', run.source)
    .where('source_key', 'in', [...byKey.keys()])
    .execute()
  return new Map(rows.map(({ source_key, import_id }) => [byKey.get(source_key) ?? '', import_id]))
}

/** Another form may have the same submissions. */
const toStoredKey = (run: ImportRun, key: string) => `${getFormId(run)}:${key}`

/** Read ones: a person has seen them where they came from, and the inbox counts the unread. */
const toState = ({ isSpam }: DescribedSubmission) => ({ status: isSpam ? 'spam' : 'read', notes: null })

async function insertImported(
  connection: Connection,
  run: ImportRun,
  key: string,
  submission: DescribedSubmission,
): Promise<number> {
  const { row, needs } = run
  const { at, fields, email, isSpam, referrer, pageUrl, device, browser, os, country, region, city } =
    submission
  const place = { workspace_id: row.workspace_id, form_id: getFormId(run) }
  const { id } = await connection
    .insertInto('submissions')
    .values({
      ...place,
      fields: JSON.stringify(fields),
      search_text: foldMarks(fields.map(([, value]) => value).join('\n')),
      ...toState(submission),
      spam_reasons: isSpam ? JSON.stringify([SPAM_THERE]) : null,
      // Whatever becomes of its status, nobody is notified of it.
      announced: 1,
      email,
      // This hash equals that of no other submission.
      fingerprint: createHash('sha256').update(`${row.id}|${key}`).digest('hex'),
      referrer,
      page_url: pageUrl,
      ...toCampaignColumns(submission),
      ...{ device, browser, os, country, region, city },
      created_at: Math.min(at ?? row.created_at, needs.now()),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const keyColumns = { workspace_id: row.workspace_id, source: run.source, source_key: toStoredKey(run, key) }
  await connection
    .insertInto('import_keys')
    .values({ ...keyColumns, link_id: id, import_id: row.id })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'source', 'source_key'])
        .doUpdateSet({ link_id: id, import_id: row.id }),
    )
    .execute()
  return id
}

const SPAM_THERE = 'The service that it was sent to took it for spam.'
