// The stages `check` and `links` of an import of submissions: stores those of another form service in a form. It notifies nobody
// and sends no reply, because the other service has done this.

import { createHash } from 'node:crypto'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { foldMarks } from '../../../lib/text.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { toCampaignColumns } from '../../visitors/campaign-columns.ts'
import { FileProblem } from '../files/source-file.ts'
import type { DescribedSubmission, SubmissionRowReading } from '../reader/protocol.ts'
import { IMPORTED_BEFORE, toCreated, toFailed, toSkipped } from '../workspace/archive-import.ts'
import { hashEditableFields } from '../workspace/hash-editable-fields.ts'
import { findByKeys, storeKeys } from '../workspace/item-keys.ts'
import { deleteDryRunRows, getPosition } from './import-links.ts'
import { confirmCheck, endCheck, endLinks, type ImportRun } from './import-run.ts'
import { type StoredRow, storeRows, UNREADABLE } from './store-rows.ts'

/** Continues at the import's position. @throws FileProblem */
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
    // Lets redirects and other writers run between two batches.
    await nextTurn()
    return null
  })
  await needs.db.write((connection) => endLinks(connection, run, []))
}

/** Reads the whole file, and changes nothing. */
async function checkSubmissionFile(run: ImportRun): Promise<void> {
  const { reader, file, reading: options } = run
  const { rows, dateOrder } = await reader.run('checkSubmissions', { file, options }, () => confirmCheck(run))
  run.options.linksDateOrder = dateOrder
  run.reading = { ...run.reading, dateOrder }
  await endCheck(run, { rows, total: rows })
}

async function storeSubmissions(
  run: ImportRun,
  readings: SubmissionRowReading[],
  dryRunKeys: Set<string>,
): Promise<void> {
  await storeRows(run, readings.length, async (connection) => {
    await requireForm(connection, run)
    const rows: StoredRow[] = []
    const known = await findEarlier(connection, run, readings)
    for (const { row, key, submission, problems } of readings) {
      if (!submission) {
        const problem = problems[0] ?? UNREADABLE
        rows.push({ row, outcome: toFailed(ITEM, { ...problem, field: problem.field || null }) })
      } else if (known.has(key) || dryRunKeys.has(key)) {
        const isEarlier = (known.get(key)?.importId ?? run.row.id) !== run.row.id
        const message = isEarlier ? IMPORTED_BEFORE : 'The file has this submission twice.'
        rows.push({ row, outcome: toSkipped(ITEM, message) })
      } else {
        const id = run.isDryRun ? null : await insertImported(connection, run, key, submission)
        known.set(key, { id: id ?? 0, importId: run.row.id })
        const updated_at = hashEditableFields(toState(submission))
        rows.push({ row, outcome: toCreated(ITEM, { id: id ?? 0, updated_at }) })
      }
    }
    return rows
  })
  if (!run.isDryRun) return
  for (const { key, submission } of readings) if (submission) dryRunKeys.add(key)
}

/** Without a name, because the list of rows outlives an erasure of the sender. */
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

/** @returns the imports of existing submissions with these keys. Deleted submissions can be imported again. */
const findEarlier = (connection: Connection, run: ImportRun, readings: SubmissionRowReading[]) =>
  findByKeys(
    connection,
    { workspaceId: run.row.workspace_id, source: run.source },
    'submission',
    new Map(readings.map(({ key }) => [toStoredKey(run, key), key])),
  )

/** Includes the form, because another form can have the same submissions. */
const toStoredKey = (run: ImportRun, key: string) => `${getFormId(run)}:${key}`

/** `read`, because people have seen them in the other service, and the inbox counts unread ones. */
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
      // Prevents a notification when its status changes.
      announced: 1,
      email,
      // A hash that equals no other submission's.
      fingerprint: createHash('sha256').update(`${row.id}|${key}`).digest('hex'),
      referrer,
      page_url: pageUrl,
      ...toCampaignColumns(submission),
      device,
      browser,
      os,
      country,
      region,
      city,
      created_at: Math.min(at ?? row.created_at, needs.now()),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const owner = { workspaceId: row.workspace_id, importId: row.id, source: run.source }
  await storeKeys(connection, owner, [toStoredKey(run, key)], id)
  return id
}

const SPAM_THERE = 'The service that it was sent to took it for spam.'
