// The state of a running import: its row, its actor, and the ways in which it can end early.

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
  /** Takes the files of submissions. */
  uploads: Pick<Uploads, 'store' | 'unfinished' | 'bytesPerWorkspace'>
  /** The disk of the data directory. */
  disk: Pick<DiskSpace, 'hasRoomFor' | 'hold'>
  /** This node: it has the files of its imports, and runs them. */
  node: string
  /** The path of the country database; when absent, the bundled one. */
  geoPath: string | undefined
  /** Clicks before this moment are past their retention at a time; 0 keeps all. */
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
  /** How links are read. */
  reading: ReadingOptions
  file: UploadedFile
  clicks: UploadedFile | null
  reader: Reader
  /** The server stops. */
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

/** Somebody has asked for the undo of an import that runs, or its workspace is gone. */
export class ImportInterrupted extends Error {}

const GONE = 'The import is canceled, or its workspace is gone'

/**
 * Changes the row of an import that runs. Call it first in a transaction that stores something: it locks the row.
 * @throws ImportInterrupted when the import is not in this stage any more
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

/** Shows during a long check that the import still runs. @throws ImportInterrupted */
export async function confirmCheck(run: ImportRun): Promise<null> {
  allow(run.actor, 'links:write')
  await run.needs.db.write((connection) => updateRun(connection, run, 'check', { total: null }))
  return null
}

/** Stores the results of the check: `options`, and how many rows the next stage has. */
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
 * For work that takes long outside of a transaction. @throws ImportInterrupted when the import is not in this stage any
 * more, and the reason of the signal
 */
export async function requireRunning({ needs, row, signal }: ImportRun, stage: ImportStage): Promise<void> {
  signal.throwIfAborted()
  const found = await findImportRow(needs.db.read, row)
  if (found?.status !== 'running' || found.stage !== stage) throw new ImportInterrupted(GONE)
}
