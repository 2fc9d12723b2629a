// Runs the imports of this node, one at a time: check, links, clicks. An import that a stop or a kill has interrupted goes
// on where it was.

import type { ExpressionBuilder } from 'kysely'
import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import { lockWorkspace } from '../../accounts/workspaces/lock-workspace.ts'
import { isArchive } from '../archive/is-archive.ts'
import { FileProblem } from '../files/source-file.ts'
import { eraseImportedClicks, type HistoryErasureNeeds } from '../history/erase-imported-clicks.ts'
import { ImportStopped } from '../history/store-chunk.ts'
import { openReader, ReaderLost } from '../reader/open-reader.ts'
import { checkArchive, importArchive, NOTHING_PRETENDED, toArchiveLinkFinder } from './import-archive.ts'
import { importClicks, toLinkFinder } from './import-clicks.ts'
import { removeUpload } from './import-files.ts'
import { checkImport, importLinks, restartPretence } from './import-links.ts'
import type { ImportMetrics } from './import-metrics.ts'
import type { ImportNeeds } from './import-needs.ts'
import type { ImportRow } from './import-row.ts'
import { ImportInterrupted, type ImportRun, toImportRun, updateRun } from './import-run.ts'
import { removeUnneededUpload } from './prune-imports.ts'
import { NOTHING_TAKEN } from './taken-names.ts'
import { undoImport } from './undo-import.ts'

export interface RunnerNeeds extends ImportNeeds, HistoryErasureNeeds {
  metrics: ImportMetrics
}

/** How often the reader of one import may end by itself. */
const READERS_MAX = 3

/** @param signal the server stops: the running import waits for the next start */
export async function runImports(needs: RunnerNeeds, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const row = await takeNext(needs)
    if (!row) return
    await runImport(needs, row, signal)
  }
}

/**
 * Undos, and what has run before, come first. No import begins while another node runs one of the same workspace: both
 * would bring the days of a history that neither has found.
 */
async function takeNext({ db, node, now }: ImportNeeds): Promise<ImportRow | undefined> {
  const next = await db.read
    .selectFrom('imports')
    .selectAll()
    .where('node', '=', node)
    .where((e) => e.or([e('status', '=', 'running'), e.and([e('status', '=', 'queued'), isAlone(e)])]))
    .orderBy('status', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (next?.status !== 'queued') return next
  return db.write(async (connection) => {
    if (db.engine === 'postgres') await lockWorkspace(connection, next.workspace_id)
    // Between the two statements somebody may have cancelled it, or another node has begun one.
    return connection
      .updateTable('imports')
      .set({ status: 'running', stage: 'check', started_at: now() })
      .where('workspace_id', '=', next.workspace_id)
      .where('id', '=', next.id)
      .where('status', '=', 'queued')
      .where(isAlone)
      .returningAll()
      .executeTakeFirst()
  })
}

/** Whether no other node runs an import of the same workspace. */
const isAlone = ({ not, exists, selectFrom }: ExpressionBuilder<Tables, 'imports'>) =>
  not(
    exists(
      selectFrom('imports as other')
        .select('other.id')
        .whereRef('other.workspace_id', '=', 'imports.workspace_id')
        .whereRef('other.node', '<>', 'imports.node')
        .where('other.status', '=', 'running'),
    ),
  )

async function runImport(needs: RunnerNeeds, row: ImportRow, signal: AbortSignal): Promise<void> {
  for (let readers = 1; ; readers++) {
    const reader = openReader(signal)
    const run = toImportRun(needs, row, { reader, signal })
    try {
      if (row.stage === 'undo') await undo(needs, run)
      else await runStages(needs, run)
      return
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ReaderLost && readers < READERS_MAX) {
        log.warn('import_reader_lost', { importId: row.id, ...describeError(error) })
        const again = await findRow(needs, row)
        if (!again) return removeUpload(needs.dataDir, run.options.directory)
        row = again
        continue
      }
      return await endEarly(needs, run, error)
    } finally {
      reader.close()
    }
  }
}

async function runStages(needs: RunnerNeeds, run: ImportRun): Promise<void> {
  const isZip = run.source === 'towpath' && (await isArchive(run.file.path))
  if (run.row.stage === 'check') await (isZip ? checkArchive(run) : checkImport(run))
  else if (run.isDryRun && run.row.stage === 'clicks') await restartPretence(run)
  const isBehindLinks = run.row.stage === 'clicks' && !run.isDryRun
  const findLinks = isZip
    ? toArchiveLinkFinder(run, isBehindLinks ? NOTHING_PRETENDED : await importArchive(run))
    : toLinkFinder(run, isBehindLinks ? NOTHING_TAKEN : await importLinks(run))
  if (run.options.clickRows !== null) await importClicks(run, findLinks)
  await needs.db.write((connection) =>
    updateRun(connection, run, 'clicks', { status: 'done', finished_at: needs.now(), position: 0 }),
  )
  await close(needs, run, 'done')
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
  // The database is away: the job tries again later.
  if (error instanceof Failure && error.code === 'unavailable') throw error
  if (error instanceof ImportInterrupted || error instanceof ImportStopped) {
    const row = await findRow(needs, run.row)
    // With the undo of an import that ran, its turn comes again at once.
    if (!row) await removeUpload(needs.dataDir, run.options.directory)
    return
  }
  if (!(error instanceof FileProblem))
    log.error('import_failed', { importId: run.row.id, ...describeError(error) })
  await fail(needs, run, toProblem(error))
}

function toProblem(error: unknown): string {
  if (error instanceof FileProblem) return error.message
  if (error instanceof ReaderLost)
    return 'The file could not be read: reading it has ended three times, perhaps because memory is short. Split the file, and try again.'
  return 'This server has failed while it ran the import: its log says why. What was created stays, and the import can be undone or sent again.'
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

/** The files of a dry run wait for the imports that follow it. */
async function close(needs: RunnerNeeds, run: ImportRun, status: 'done' | 'failed' | 'undone') {
  needs.metrics.ended(status, await findRow(needs, run.row))
  await removeUnneededUpload(needs, run.options.directory)
}

const findRow = ({ db }: Pick<ImportNeeds, 'db'>, { id, workspace_id }: ImportRow) =>
  db.read
    .selectFrom('imports')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
