// An import as a row and as the resource of the API.

import type { Selectable } from 'kysely'
import { toIso, toIsoOrNull } from '../../../lib/iso-time.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Imports } from '../../../storage/database/tables/transfer-tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import {
  type DateOrder,
  ERRORS_SHOWN,
  type ImportResource,
  type ImportSourceName,
  type ImportStage,
  type ImportStatus,
  type OnConflict,
  UNDO_DAYS,
} from '../schema.ts'
import type { ArchiveFacts } from '../workspace/archive-import.ts'

export type ImportRow = Selectable<Imports>

/** The person's settings for the files, and the directory of the files. Stored as JSON. */
export interface ImportOptions {
  /** The name of the directory below `DATA_DIR/imports`. */
  directory: string
  /** A host of the file → a domain, as typed. */
  domainMap: Record<string, string>
  mapping: Record<string, string>
  /** The person's choice. */
  dateOrder: DateOrder | null
  timeZone: string
  /** Results of the check: the orders of dates, and the rows of the click history; null without one. */
  linksDateOrder: DateOrder | null
  clicksDateOrder: DateOrder | null
  clickRows: number | null
  /** The form of an import of submissions. */
  form?: { id: number; key: string }
  /** Results of the check of a workspace's export. */
  archive?: ArchiveFacts
  /** The history of its readers. Absent before the first one. */
  readers?: ReaderRecord
}

/** Stored, so that no file can crash its readers, or the server, repeatedly. */
export interface ReaderRecord {
  /** The number of readers that crashed or were stuck. */
  lost: number
  /** The number of server crashes while a reader was at the same place. */
  crashes: number
  /** The running reader, or the last one before a crash of the server; null after an orderly stop. */
  begun: { process: string; place: string } | null
}

export const readOptions = ({ options }: Pick<ImportRow, 'options'>): ImportOptions => JSON.parse(options)

export const findImportRow = (
  connection: Connection,
  { id, workspace_id }: Pick<ImportRow, 'id' | 'workspace_id'>,
): Promise<ImportRow | undefined> =>
  connection
    .selectFrom('imports')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()

export const isOpen = ({ status }: Pick<ImportRow, 'status'>) => status === 'queued' || status === 'running'

/** The end of the time for an undo; null if the import cannot be undone. */
export function getUndoEnd({ dry_run, status, created_at }: ImportRow): number | null {
  return dry_run === 1 || status === 'undone' ? null : created_at + UNDO_DAYS * DAY_MS
}

/** The progress at the beginning and end of each stage, without and with a click history. */
const SHARES: Record<ImportStage, { alone: [number, number]; withClicks: [number, number] }> = {
  check: { alone: [0, 0.1], withClicks: [0, 0.05] },
  links: { alone: [0.1, 1], withClicks: [0.05, 0.4] },
  clicks: { alone: [0.9, 1], withClicks: [0.4, 1] },
  undo: { alone: [0, 1], withClicks: [0, 1] },
}

export function toProgress(row: ImportRow): number {
  if (row.status === 'queued') return 0
  if (!isOpen(row)) return 1
  const shares = SHARES[row.stage as ImportStage]
  const [begin, end] = readOptions(row).clickRows === null ? shares.alone : shares.withClicks
  const done = row.total ? Math.min(1, row.position / row.total) : 0
  return Math.round((begin + (end - begin) * done) * 1000) / 1000
}

export async function toImportResource(
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  row: ImportRow,
  errorsShown = ERRORS_SHOWN,
): Promise<ImportResource> {
  const listRows = (outcome: 'failed' | 'kept', limit: number) =>
    connection
      .selectFrom('import_rows')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('import_id', '=', row.id)
      .where('outcome', '=', outcome)
      .orderBy('id')
      .limit(limit)
      .execute()
  const errors = await listRows('failed', errorsShown)
  const kept = await listRows('kept', ERRORS_SHOWN)
  return {
    id: row.id,
    source: row.source as ImportSourceName,
    status: row.status as ImportStatus,
    stage: row.stage as ImportStage,
    dryRun: row.dry_run === 1,
    onConflict: row.on_conflict as OnConflict,
    fileName: row.file_name,
    clicksFileName: row.clicks_file_name,
    formKey: readOptions(row).form?.key ?? null,
    rows: row.rows,
    created: row.created,
    renamed: row.renamed,
    skipped: row.skipped,
    failed: row.failed,
    clicks: row.clicks,
    progress: toProgress(row),
    notices: JSON.parse(row.notices),
    problem: row.problem,
    errors: errors.map(({ row, field, value, message }) => ({ row, field, value, message: message ?? '' })),
    kept: kept.map(({ kind, item_id, name, message }) => ({
      kind,
      id: item_id ?? 0,
      name,
      reason: message ?? '',
    })),
    undoableUntil: toIsoOrNull(getUndoEnd(row)),
    createdAt: toIso(row.created_at),
    startedAt: toIsoOrNull(row.started_at),
    finishedAt: toIsoOrNull(row.finished_at),
    undoneAt: toIsoOrNull(row.undone_at),
  }
}
