// The state of a running import: its row, its actor, and the ways in which it can end early.

import type { Updateable } from 'kysely'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Imports } from '../../../storage/database/tables/transfer-tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { Reader } from '../reader/open-reader.ts'
import type { UploadedFile } from '../reader/protocol.ts'
import type { ImportSourceName, ImportStage } from '../schema.ts'
import type { ReadingOptions } from '../sources/source.ts'
import { toUploadedFiles } from './import-files.ts'
import type { ImportNeeds } from './import-needs.ts'
import { type ImportOptions, type ImportRow, readOptions } from './import-row.ts'

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

/**
 * For work that takes long outside of a transaction. @throws ImportInterrupted when the import is not in this stage any
 * more, and the reason of the signal
 */
export async function requireRunning({ needs, row, signal }: ImportRun, stage: ImportStage): Promise<void> {
  signal.throwIfAborted()
  const found = await needs.db.read
    .selectFrom('imports')
    .select('id')
    .where('workspace_id', '=', row.workspace_id)
    .where('id', '=', row.id)
    .where('status', '=', 'running')
    .where('stage', '=', stage)
    .executeTakeFirst()
  if (!found) throw new ImportInterrupted(GONE)
}
