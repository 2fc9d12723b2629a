// Runs one import: check, links, clicks. After a stop or a kill, an import continues at its position. An import whose reader
// has crashed twice fails.

import { randomToken } from '../../../lib/crypto/random.ts'
import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { listPendingImports } from '../../hits/batches/hit-import.ts'
import { isArchive } from '../archive/is-archive.ts'
import { FileProblem } from '../files/source-file.ts'
import { isChunkOf } from '../history/chunk-files.ts'
import { eraseImportedClicks, type HistoryErasureNeeds } from '../history/erase-imported-clicks.ts'
import { ImportStopped } from '../history/store-chunk.ts'
import { openReader, ReaderLost, type ReaderNeeds } from '../reader/open-reader.ts'
import { NO_DRY_RUN_NAMES } from './dry-run-names.ts'
import { checkArchive, importArchive, NO_DRY_RUN_KEYS, toArchiveLinkFinder } from './import-archive.ts'
import { importClicks, toLinkFinder } from './import-clicks.ts'
import { removeUpload } from './import-files.ts'
import { checkImport, importLinks, restartDryRun } from './import-links.ts'
import type { ImportMetrics } from './import-metrics.ts'
import { findImportRow, type ImportRow, type ReaderRecord, readOptions } from './import-row.ts'
import { ImportInterrupted, type ImportNeeds, type ImportRun, toImportRun, updateRun } from './import-run.ts'
import { importSubmissions } from './import-submissions.ts'
import { removeUnneededUpload } from './prune-imports.ts'
import { undoImport } from './undo-import.ts'

export interface RunnerNeeds extends ImportNeeds, HistoryErasureNeeds, ReaderNeeds {
  metrics: ImportMetrics
  /** Waits until the hit worker has shipped all hits. */
  drain(): Promise<void>
  /** The first slice: how long an import keeps its reader while others wait. */
  sliceMs?: number
}

/** The import fails at this number of lost readers. One loss can be due to a lack of memory. */
const LOST_MAX = 2
/** After this many crashes of the server at one place of a file, assume that the file causes them. */
const CRASHES_MAX = 5
/** A random name of this server process. */
const PROCESS = randomToken(8)

/** @param signal aborted when the server stops, or the import must pause or is canceled. The reader then ends immediately */
export async function runImport(needs: RunnerNeeds, row: ImportRow, signal: AbortSignal): Promise<void> {
  for (;;) {
    const begun = await noteReader(needs, row, beginReader)
    if (!begun) return removeUpload(needs.dataDir, readOptions(row).directory)
    const reader = openReader(needs, signal)
    const run = toImportRun(needs, begun, { reader, signal })
    try {
      if (begun.stage === 'undo') return await undo(needs, run)
      requireReadable(run.options.readers)
      return await runStages(needs, run)
    } catch (error) {
      if (signal.aborted) return await interrupt(needs, run)
      if (!(error instanceof ReaderLost)) return await endEarly(needs, run, error)
      log.warn('import_reader_lost', { importId: row.id, ...describeError(error) })
      await noteReader(needs, row, (readers) => ({ ...readers, lost: readers.lost + 1 }))
    } finally {
      reader.close()
    }
  }
}

/** @returns the current row; undefined if its workspace is deleted */
const noteReader = (
  { db }: Pick<ImportNeeds, 'db'>,
  { id, workspace_id }: ImportRow,
  change: (readers: ReaderRecord, row: ImportRow) => ReaderRecord,
): Promise<ImportRow | undefined> =>
  db.write(async (connection) => {
    const row = await findImportRow(connection, { id, workspace_id })
    if (!row || row.stage === 'undo') return row
    const options = readOptions(row)
    const readers = change(options.readers ?? { lost: 0, crashes: 0, begun: null }, row)
    return connection
      .updateTable('imports')
      .set({ options: JSON.stringify({ ...options, readers }) })
      .where('workspace_id', '=', workspace_id)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
  })

function beginReader({ lost, crashes, begun }: ReaderRecord, { stage, position }: ImportRow): ReaderRecord {
  const place = `${stage} ${position}`
  const hasCrashed = begun !== null && begun.process !== PROCESS
  const crashesHere = begun?.place === place ? crashes + 1 : 1
  return { lost, crashes: hasCrashed ? crashesHere : crashes, begun: { process: PROCESS, place } }
}

/** @throws FileProblem */
function requireReadable({ lost, crashes }: ReaderRecord = { lost: 0, crashes: 0, begun: null }): void {
  if (lost >= LOST_MAX)
    throw new FileProblem(
      'The file could not be read: twice it took too long at one place, or too much memory. Split the file, and try again.',
    )
  if (crashes >= CRASHES_MAX)
    throw new FileProblem(
      `The file could not be read: the server has ended ${CRASHES_MAX} times while it read one place of it. Split the file, and try again.`,
    )
}

/** Leaves the import unchanged: it continues later, or is undone next. */
async function interrupt(needs: RunnerNeeds, { row, options }: ImportRun): Promise<void> {
  const left = await noteReader(needs, row, ({ lost }) => ({ lost, crashes: 0, begun: null }))
  if (!left) await removeUpload(needs.dataDir, options.directory)
}

async function runStages(needs: RunnerNeeds, run: ImportRun): Promise<void> {
  if (run.source === 'submissions') await importSubmissions(run)
  else await importLinksAndClicks(needs, run)
  await needs.db.write((connection) =>
    updateRun(connection, run, 'clicks', { status: 'done', finished_at: needs.now(), position: 0 }),
  )
  await close(needs, run, 'done')
}

async function importLinksAndClicks(needs: RunnerNeeds, run: ImportRun): Promise<void> {
  const isZip = run.source === 'towpath' && (await isArchive(run.file.path))
  if (run.row.stage === 'check') await (isZip ? checkArchive(run) : checkImport(run))
  else if (run.isDryRun && run.row.stage === 'clicks') await restartDryRun(run)
  const isBehindLinks = run.row.stage === 'clicks' && !run.isDryRun
  const findLinks = isZip
    ? toArchiveLinkFinder(run, isBehindLinks ? NO_DRY_RUN_KEYS : await importArchive(run))
    : toLinkFinder(run, isBehindLinks ? NO_DRY_RUN_NAMES : await importLinks(run))
  if (run.options.clickRows !== null) {
    await importClicks(run, findLinks)
    if (!run.isDryRun) await waitForCounts(needs, run)
  }
}

const COUNTS_POLL_MS = 50

/** Waits until the links' counters have the clicks of the import. @throws the reason of the signal */
async function waitForCounts({ dataDir, drain }: RunnerNeeds, { row, signal }: ImportRun): Promise<void> {
  while (listPendingImports(dataDir).some((name) => isChunkOf(name, row.id))) {
    signal.throwIfAborted()
    await Bun.sleep(COUNTS_POLL_MS)
  }
  await drain()
}

async function undo(needs: RunnerNeeds, run: ImportRun): Promise<void> {
  const { id, workspace_id, finished_at } = run.row
  if (!run.isDryRun) await eraseImportedClicks(needs, { importId: id, workspaceId: workspace_id })
  await undoImport(run)
  const at = needs.now()
  await needs.db.write((connection) =>
    updateRun(connection, run, 'undo', {
      status: 'undone',
      undone_at: at,
      finished_at: finished_at ?? at,
    }),
  )
  await close(needs, run, 'undone')
}

async function endEarly(needs: RunnerNeeds, run: ImportRun, error: unknown): Promise<void> {
  // The database is unavailable: the job tries again later.
  if (error instanceof Failure && error.code === 'unavailable') throw error
  if (error instanceof ImportInterrupted || error instanceof ImportStopped) return interrupt(needs, run)
  if (!(error instanceof FileProblem))
    log.error('import_failed', { importId: run.row.id, ...describeError(error) })
  await fail(needs, run, toProblem(error))
}

function toProblem(error: unknown): string {
  if (error instanceof FileProblem) return error.message
  return 'The server failed while it ran the import: its log says why. You can undo the import, or send it again.'
}

async function fail(needs: RunnerNeeds, run: ImportRun, problem: string): Promise<void> {
  const { db, now } = needs
  const failed = await db.write((connection) =>
    connection
      .updateTable('imports')
      .set({ status: 'failed', problem, finished_at: now() })
      .where('workspace_id', '=', run.row.workspace_id)
      .where('id', '=', run.row.id)
      .where('status', '=', 'running')
      .returning('id')
      .executeTakeFirst(),
  )
  if (failed) await close(needs, run, 'failed')
}

/** Keeps the files of a dry run for its import. */
async function close(needs: RunnerNeeds, run: ImportRun, status: 'done' | 'failed' | 'undone') {
  needs.metrics.ended(status, await findImportRow(needs.db.read, run.row))
  await removeUnneededUpload(needs, run.options.directory)
}
