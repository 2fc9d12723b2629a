// The stages `check` and `links` of the export of a workspace.

import { createPacer, nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { hashPassword } from '../../../lib/crypto/password.ts'
import { randomToken } from '../../../lib/crypto/random.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import type { Connection, OnCommit } from '../../../storage/database/open-database.ts'
import type { RecordBatch } from '../archive/read-archive-records.ts'
import { RECORD_FILES } from '../archive/record-schemas.ts'
import type { WorkspaceFileName } from '../export/manifest.ts'
import { toStandIn } from '../history/stand-in.ts'
import type { ArchiveImport } from '../workspace/archive-import.ts'
import { endArchive } from '../workspace/end-archive.ts'
import { findHitLinks } from '../workspace/item-keys.ts'
import { openArchiveFiles, requireRoomForFiles } from '../workspace/receive-archive-files.ts'
import { ROW_FILES, storeRecord } from '../workspace/store-record.ts'
import { deleteDryRunRows, getPosition } from './import-links.ts'
import { confirmCheck, endCheck, endLinks, type ImportRun, requireRunning } from './import-run.ts'
import { refuseConflict, type StoredRow, storeRows, tryRows } from './store-rows.ts'

/** Reads the whole archive, and changes nothing. @throws FileProblem if it cannot be imported */
export async function checkArchive(run: ImportRun): Promise<void> {
  const { needs, reader, file, row } = run
  const contents = await reader.run('checkArchive', { file }, () => confirmCheck(run))
  const { defaultDomain, workspace } = contents.manifest
  const { publicId, createdAt } = workspace
  run.options.archive = { publicId, defaultDomain, createdAt }
  run.options.clickRows = contents.records['hits.ndjson'] ?? 0
  await requireRoomForFiles({ actor: run.actor, archive: run.options.archive }, needs, contents.fileBytes)
  if (row.on_conflict === 'fail') await requireNoConflict(run)
  const countLines = (names: readonly WorkspaceFileName[]) =>
    names.reduce((sum, name) => sum + (contents.records[name] ?? 0), 0)
  await endCheck(run, { rows: countLines(ROW_FILES), total: countLines(RECORD_FILES) })
}

/** With `onConflict: fail`, one taken slug stops the import before any change. @throws FileProblem */
async function requireNoConflict(run: ImportRun): Promise<void> {
  const archive = await toArchiveRun({ ...run, isDryRun: true })
  await run.reader.run('archive', { file: run.file, skip: 0 }, async (batch) => {
    const rows = await tryRows(run, (connection, onCommit) =>
      storeRecords(archive, connection, onCommit, batch),
    )
    refuseConflict(rows, 'Link')
    await nextTurn()
    return null
  })
}

/**
 * Stores the records from the import's position. A dry run begins again, because its state is only in memory.
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
      // Before the transaction, because other writers wait for it.
      if (!isDryRun) archive.files = await files.receive(batch)
      const stored = storeRows(run, batch.readings.length, (connection, onCommit) =>
        storeRecords(archive, connection, onCommit, batch),
      )
      await stored.finally(() => files.settle(archive.files))
      // Lets redirects and other writers run between two batches.
      await nextTurn()
      return null
    })
  } finally {
    await files.close()
  }
  await needs.db.write(async (connection) => {
    const notices = await endArchive({ run: archive, connection })
    await endLinks(connection, run, notices)
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

async function storeRecords(
  archive: ArchiveImport,
  connection: Connection,
  onCommit: OnCommit,
  { file, readings }: RecordBatch,
): Promise<StoredRow[]> {
  const db = toNestedDatabase(archive.needs.db, connection, onCommit)
  const rows: StoredRow[] = []
  const pace = createPacer()
  for (const reading of readings) {
    await pace()
    const outcome = await storeRecord({ run: archive, db, connection, onCommit }, file, reading)
    if (outcome) rows.push({ row: reading.row, outcome })
  }
  return rows
}
