// The stages `check` and `links` of the export of a workspace.

import { createPacer, nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { hashPassword } from '../../../lib/crypto/password.ts'
import { randomToken } from '../../../lib/crypto/random.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import type { Connection, OnCommit } from '../../../storage/database/open-database.ts'
import type { RecordBatch } from '../archive/read-archive-records.ts'
import type { ArchiveContents } from '../archive/verify-archive.ts'
import { FileProblem } from '../files/source-file.ts'
import { toStandIn } from '../history/stand-in.ts'
import type { ArchiveImport } from '../workspace/archive-import.ts'
import { endArchive } from '../workspace/end-archive.ts'
import { findHitLinks } from '../workspace/item-keys.ts'
import {
  type ArchiveFiles,
  openArchiveFiles,
  requireRoomForFiles,
} from '../workspace/receive-archive-files.ts'
import { ROW_FILES, storeRecord } from '../workspace/store-record.ts'
import { deleteDryRunRows, getPosition } from './import-links.ts'
import { type ImportRun, requireRunning, updateRun } from './import-run.ts'
import { plus, type StoredRow, storeFigures } from './store-figures.ts'

/** Reads the archive to its end, and changes nothing. @throws FileProblem where it cannot be imported */
export async function checkArchive(run: ImportRun): Promise<void> {
  const { needs, reader, file, row } = run
  const contents = await reader.run('checkArchive', { file }, async () => {
    await needs.db.write((connection) => updateRun(connection, run, 'check', { total: null }))
    return null
  })
  const { defaultDomain, workspace } = contents.manifest
  const { publicId, createdAt } = workspace
  run.options.archive = { publicId, defaultDomain, createdAt }
  run.options.clickRows = contents.records['hits.ndjson'] ?? 0
  await requireRoomForFiles({ actor: run.actor, archive: run.options.archive }, needs, contents.fileBytes)
  if (row.on_conflict === 'fail') await requireNoConflict(run)
  await needs.db.write((connection) =>
    updateRun(connection, run, 'check', {
      stage: 'links',
      options: JSON.stringify(run.options),
      rows: ROW_FILES.reduce((sum, name) => sum + (contents.records[name] ?? 0), 0),
      total: countLines(contents) - (contents.records['hits.ndjson'] ?? 0),
      position: 0,
    }),
  )
}

const countLines = ({ records }: ArchiveContents) =>
  Object.values(records).reduce((sum, lines) => sum + (lines ?? 0), 0)

/** `onConflict: fail` changes nothing where one slug is taken. @throws FileProblem */
async function requireNoConflict(run: ImportRun): Promise<void> {
  const archive = await toArchiveRun({ ...run, isDryRun: true })
  await run.reader.run('archive', { file: run.file, skip: 0 }, async (batch) => {
    for (const { row, outcome, isConflict } of await tryBatch(run, archive, batch))
      if (isConflict)
        throw new FileProblem(
          `Link ${row}: ${outcome.name} cannot be created. ${outcome.message} Nothing is imported, because onConflict is fail.`,
        )
    await nextTurn()
    return null
  })
}

/**
 * Stores the records, from where the import was; a dry run begins again, because it has only memory to remember by.
 * @returns the keys of the dry run
 */
export async function importArchive(run: ImportRun): Promise<ReadonlySet<string>> {
  const { needs, reader, file, isDryRun } = run
  if (isDryRun) await deleteDryRunRows(run)
  const archive = await toArchiveRun(run)
  const skip = isDryRun ? 0 : await getPosition(run)
  const files = openArchiveFiles(archive, needs, file.path, () => requireRunning(run, 'links'))
  try {
    await reader.run('archive', { file, skip }, async (batch) => {
      await storeBatch(run, archive, files, batch)
      // Redirects, and other writers, come between two batches.
      await nextTurn()
      return null
    })
  } finally {
    await files.close()
  }
  await needs.db.write(async (connection) => {
    const notices = await endArchive({ run: archive, connection })
    await updateRun(connection, run, 'links', {
      stage: 'clicks',
      notices: JSON.stringify(notices),
      total: run.options.clickRows,
      position: 0,
    })
  })
  return archive.dryRunKeys
}

export const NO_DRY_RUN_KEYS: ReadonlySet<string> = new Set()

/** The links of the hits of an archive. */
export const toArchiveLinkFinder =
  ({ needs, row }: ImportRun, dryRunKeys: ReadonlySet<string>) =>
  async (keys: string[]): Promise<number[]> => {
    const found = await findHitLinks(needs.db.read, row.workspace_id, keys)
    return keys.map((key) => found.get(key) ?? (dryRunKeys.has(key) ? toStandIn(key) : 0))
  }

async function toArchiveRun({ needs, actor, row, options, isDryRun }: ImportRun): Promise<ArchiveImport> {
  if (!options.archive) throw new Error('the archive was not checked')
  return {
    needs,
    actor,
    importId: row.id,
    archive: options.archive,
    onConflict: row.on_conflict as ArchiveImport['onConflict'],
    domainMap: options.domainMap,
    isDryRun,
    dryRunKeys: new Set(),
    files: new Map(),
    closedPassword: (await hashPassword(randomToken(32), 'links')) as string,
  }
}

interface StoredArchiveRow extends StoredRow {
  isConflict: boolean
}

async function storeBatch(
  run: ImportRun,
  archive: ArchiveImport,
  files: ArchiveFiles,
  batch: RecordBatch,
): Promise<void> {
  const { db } = run.needs
  const position = plus('position', batch.readings.length)
  if (run.isDryRun) {
    const rows = await tryBatch(run, archive, batch)
    await db.write((connection) => storeFigures(connection, run, rows, position))
    return
  }
  // Before the transaction: others wait for it.
  archive.files = await files.receive(batch)
  const stored = db.write(async (connection, onCommit) => {
    // First, because it locks the row of the import: an undo that is asked for now waits for this batch.
    await updateRun(connection, run, 'links', { position })
    await storeFigures(connection, run, await storeRecords(archive, connection, onCommit, batch))
  })
  await stored.finally(() => files.settle(archive.files))
}

/** Rolls back the transaction of a dry run's batch. */
class Rollback extends Error {
  readonly rows: StoredArchiveRow[]
  constructor(rows: StoredArchiveRow[]) {
    super('the batch of a dry run')
    this.rows = rows
  }
}

/** Stores the records and rolls them back. @returns what would have become of them */
async function tryBatch(
  { needs }: ImportRun,
  archive: ArchiveImport,
  batch: RecordBatch,
): Promise<StoredArchiveRow[]> {
  const rows = await needs.db
    .write(async (connection, onCommit): Promise<StoredArchiveRow[]> => {
      throw new Rollback(await storeRecords(archive, connection, onCommit, batch))
    })
    .catch((error) => {
      if (error instanceof Rollback) return error.rows
      throw error
    })
  return rows.map((row) => ({ ...row, outcome: { ...row.outcome, itemId: null, updatedAt: null } }))
}

async function storeRecords(
  archive: ArchiveImport,
  connection: Connection,
  onCommit: OnCommit,
  { file, readings }: RecordBatch,
): Promise<StoredArchiveRow[]> {
  const db = toNestedDatabase(archive.needs.db, connection, onCommit)
  const rows: StoredArchiveRow[] = []
  const pace = createPacer()
  for (const reading of readings) {
    await pace()
    const outcome = await storeRecord({ run: archive, db, connection, onCommit }, file, reading)
    if (outcome) rows.push({ row: reading.row, outcome, isConflict: outcome.isConflict === true })
  }
  return rows
}
