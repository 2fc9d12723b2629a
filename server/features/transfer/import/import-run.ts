// The state of a running import: its row, its actor, and the conditions that end it early.

import type { Updateable } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Imports } from '../../../storage/database/tables/transfer-tables.ts'
import type { DiskSpace } from '../../../storage/disk-space.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { Uploads } from '../../forms/uploads/uploads.ts'
import type { Site } from '../../links/link.ts'
import type { Reader } from '../reader/open-reader.ts'
import type { UploadedFile } from '../reader/protocol.ts'
import type { ImportSourceName, ImportStage } from '../schema.ts'
import type { ReadingOptions } from '../sources/source.ts'
import { toUploadedFiles } from './import-files.ts'
import { findImportRow, type ImportOptions, type ImportRow, readOptions } from './import-row.ts'

/** Dependencies of imports, which services.ts opens. */
export interface ImportNeeds {
  db: Database
  site: Site
  now: () => number
  dataDir: string
  /** The store for files of submissions. */
  uploads: Pick<Uploads, 'store' | 'unfinished' | 'bytesPerWorkspace'>
  /** The disk of the data directory. */
  disk: Pick<DiskSpace, 'hasRoomFor' | 'hold'>
  /** This node, which has the files of its imports and runs them. */
  node: string
  /** The path of the country database; when absent, the bundled one. */
  geoPath: string | undefined
  /** Returns the time before which clicks are past their retention; 0 keeps all. */
  retentionStart(at: number): number
}

export interface ImportRun {
  needs: ImportNeeds
  actor: Actor
  /** The row at the start of the run; `position` and the totals are in the database. */
  row: ImportRow
  source: ImportSourceName
  isDryRun: boolean
  options: ImportOptions
  /** The options for reading links. */
  reading: ReadingOptions
  file: UploadedFile
  clicks: UploadedFile | null
  reader: Reader
  /** Aborted when the server stops. */
  signal: AbortSignal
}

export function toImportRun(
  needs: ImportNeeds,
  row: ImportRow,
  { reader, signal }: Pick<ImportRun, 'reader' | 'signal'>,
): ImportRun {
  const options = readOptions(row)
  const { mapping, dateOrder, linksDateOrder, timeZone } = options
  return {
    needs,
    actor: JSON.parse(row.actor),
    row,
    source: row.source as ImportSourceName,
    isDryRun: row.dry_run === 1,
    options,
    reading: { mapping, dateOrder: linksDateOrder ?? dateOrder, timeZone },
    ...toUploadedFiles(needs.dataDir, options.directory, row),
    reader,
    signal,
  }
}

/** The running import must be undone, or its workspace is deleted. */
export class ImportInterrupted extends Error {}

const GONE = 'The import is canceled, or its workspace is gone'

/**
 * Changes the row of a running import. Call it first in a transaction, because it locks the row.
 * @throws ImportInterrupted if the import is no longer in this stage
 */
export async function updateRun(
  connection: Connection,
  { row }: Pick<ImportRun, 'row'>,
  stage: ImportStage,
  changes: Updateable<Imports>,
): Promise<void> {
  const { numUpdatedRows } = await connection
    .updateTable('imports')
    .set(changes)
    .where('workspace_id', '=', row.workspace_id)
    .where('id', '=', row.id)
    .where('status', '=', 'running')
    .where('stage', '=', stage)
    .executeTakeFirst()
  if (Number(numUpdatedRows) === 0) throw new ImportInterrupted(GONE)
}

/** Checks during a long stage that the import still runs. @throws ImportInterrupted */
export async function confirmCheck(run: ImportRun): Promise<null> {
  allow(run.actor, 'links:write')
  await run.needs.db.write((connection) => updateRun(connection, run, 'check', { total: null }))
  return null
}

/** Stores the results of the check: `options`, and the number of rows of the next stage. */
export async function endCheck(
  run: ImportRun,
  { rows, total }: { rows: number; total: number },
): Promise<void> {
  allow(run.actor, 'links:write')
  const changes = { stage: 'links', options: JSON.stringify(run.options), rows, total, position: 0 }
  await run.needs.db.write((connection) => updateRun(connection, run, 'check', changes))
}

export const endLinks = (connection: Connection, run: ImportRun, notices: string[]): Promise<void> =>
  updateRun(connection, run, 'links', {
    stage: 'clicks',
    notices: JSON.stringify(notices),
    total: run.options.clickRows,
    position: 0,
  })

/**
 * For long work outside of a transaction. @throws ImportInterrupted if the import is no longer in this stage; the reason of the
 * signal
 */
export async function requireRunning({ needs, row, signal }: ImportRun, stage: ImportStage): Promise<void> {
  signal.throwIfAborted()
  const found = await findImportRow(needs.db.read, row)
  if (found?.status !== 'running' || found.stage !== stage) throw new ImportInterrupted(GONE)
}
