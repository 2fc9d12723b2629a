// Deletes unneeded files of imports, and rows that are too old for an undo. Fails imports whose server no longer runs.

import { sql } from 'kysely'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'
import { DRY_RUN_FILE_HOURS, UNDO_DAYS } from '../schema.ts'
import { removeUpload, sweepUploads } from './import-files.ts'
import { readOptions } from './import-row.ts'
import type { ImportNeeds } from './import-run.ts'

/** Deletes unneeded files of this node. */
export async function pruneImportFiles(needs: ImportNeeds): Promise<void> {
  await sweepUploads(needs.dataDir, await listNeededUploads(needs), needs.now())
}

type UploadNeeds = Pick<ImportNeeds, 'db' | 'node' | 'now'>

/** Deletes the files of a finished import, unless another one needs them. @param directory from its options */
export async function removeUnneededUpload(
  needs: UploadNeeds & Pick<ImportNeeds, 'dataDir'>,
  directory: string,
): Promise<void> {
  const needed = await listNeededUploads(needs)
  if (!needed.has(directory)) await removeUpload(needs.dataDir, directory)
}

export interface NeededUpload {
  workspaceId: number
  bytes: number
}

/** The directories of open imports and of dry runs of the last day, by name. */
export async function listNeededUploads({ db, node, now }: UploadNeeds): Promise<Map<string, NeededUpload>> {
  const since = now() - DRY_RUN_FILE_HOURS * 60 * 60_000
  const rows = await db.read
    .selectFrom('imports')
    .select(['workspace_id', 'options', 'file_bytes', 'clicks_file_bytes'])
    .where('node', '=', node)
    // Literals, because SQLite does not use a partial index for bound values.
    .where(
      sql<boolean>`(status in ('queued', 'running') or (dry_run = 1 and status = 'done' and finished_at > ${since}))`,
    )
    .execute()
  return new Map(
    rows.map((row) => [
      readOptions(row).directory,
      {
        workspaceId: row.workspace_id,
        bytes: Number(row.file_bytes) + Number(row.clicks_file_bytes ?? 0),
      },
    ]),
  )
}

/** Deletes the outcomes of rows, of all workspaces. The import itself stays, with its totals. */
export async function pruneImportRows(db: Database, now: number): Promise<void> {
  const isOld = sql`import_id in (select id from imports where created_at < ${now - UNDO_DAYS * DAY_MS}
    and status not in ('queued', 'running'))`
  await pruneInSlices(db, 'import_rows', isOld)
}

/** Longer than any restart of a server. */
const GONE_AFTER_MS = 60 * 60_000
const GONE =
  'The server with the files is gone. Created items stay. Send the files again: nothing is created twice.'

/**
 * Fails abandoned imports of all workspaces. With SQLite there is only one server, so an import of another node from before its
 * start comes from an earlier data directory.
 * @param startedAt the start of this server
 */
export async function failAbandonedImports(
  { db, node, now }: Pick<ImportNeeds, 'db' | 'node' | 'now'>,
  startedAt: number,
): Promise<void> {
  const before = db.engine === 'postgres' ? now() - GONE_AFTER_MS : startedAt
  const open = await db.read
    .selectFrom('imports')
    .select(['id', 'node'])
    .where('status', 'in', ['queued', 'running'])
    .where('node', '<>', node)
    .where('created_at', '<', before)
    .execute()
  for (const { id, node: owner } of open) {
    if (db.engine === 'postgres' && (await isAlive(db, owner, now()))) continue
    await db.write((connection) =>
      connection
        .updateTable('imports')
        .set({ status: 'failed', problem: GONE, finished_at: now() })
        .where('id', '=', id)
        .where('node', '=', owner)
        .where('status', 'in', ['queued', 'running'])
        .execute(),
    )
  }
}

async function isAlive(db: Database, node: string, now: number): Promise<boolean> {
  const row = await db.read.selectFrom('nodes').select('seen_at').where('node', '=', node).executeTakeFirst()
  return row !== undefined && Number(row.seen_at) > now - GONE_AFTER_MS
}
