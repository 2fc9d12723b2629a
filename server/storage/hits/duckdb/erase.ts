// Deletes and erases hits. DuckDB only marks deleted rows, and freed blocks keep their bytes. So erasure copies all other
// hits to a new file, which replaces the old one.

import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../lib/log.ts'
import { renameDurably, syncToDisk } from '../../write-durably.ts'
import type { ImportedHits } from '../hit-engine.ts'
import { isDamage } from './damage-watch.ts'
import { toBackupPath, toErasingPath, toSpillPath } from './hit-file.ts'
import { createMemoryInstance } from './memory-instance.ts'
import { copyDurably, deleteLeftovers, isQuarantinedName } from './open-file.ts'
import { deleteRollUpsBefore, deleteRollUpsOf, listDaysOf } from './rollups/marks.ts'
import { dropRollUps, lowerTotals } from './rollups/tables.ts'
import { quoteIdentifier, quoteLiteral } from './values.ts'

const MEMORY_MB = 256

/** Deletes the hits recorded before this moment from every table that has any. @returns how many */
export async function deleteBefore(connection: DuckDBConnection, before: number): Promise<number> {
  let deleted = 0
  for (const table of await listTablesWith(connection, 'recorded_at')) {
    const text = `DELETE FROM ${quoteIdentifier(table)} WHERE recorded_at < $1::BIGINT`
    deleted += (await connection.run(text, [BigInt(before)])).rowsChanged
  }
  await deleteRollUpsBefore(connection, before, deleted > 0)
  return deleted
}

/** Deletes the hits of an import. @returns how many */
export async function deleteImported(
  connection: DuckDBConnection,
  { workspaceId, importId }: ImportedHits,
): Promise<number> {
  const condition = 'workspace_id = $1::BIGINT AND import_id = $2::BIGINT'
  const params = [BigInt(workspaceId), BigInt(importId)]
  await deleteRollUpsOf(connection, workspaceId, await listDaysOf(connection, condition, params))
  let deleted = 0
  for (const table of await listTablesWith(connection, 'import_id'))
    deleted += (await connection.run(`DELETE FROM ${quoteIdentifier(table)} WHERE ${condition}`, params))
      .rowsChanged
  return deleted
}

/**
 * Erases these workspaces from a closed database and from its backup. Deletes its quarantined files.
 * @throws when the database cannot be read, or the disk has no space for a second one
 */
export async function eraseFromFiles(path: string, workspaceIds: number[]): Promise<void> {
  await eraseWorkspaces(path, workspaceIds)
  if (existsSync(toBackupPath(path))) await copyDurably(path, toBackupPath(path))
  await deleteLeftovers(path)
  // A quarantined file cannot be read, so no single workspace can be erased from it.
  for (const name of await readdir(dirname(path))) {
    if (!isQuarantinedName(name, basename(path))) continue
    log.warn('set_aside_file_removed', { path: join(dirname(path), name) })
    await rm(join(dirname(path), name), { recursive: true, force: true })
  }
}

/**
 * Rewrites a closed database without the hits of these workspaces. A crash does not damage the old file. Unreadable roll-ups
 * are first dropped from the old file, so they can be missing after a crash.
 * @throws when the database cannot be read, or the disk has no space for a second one
 */
export async function eraseWorkspaces(path: string, workspaceIds: number[]): Promise<void> {
  if (!existsSync(path)) return
  const fresh = toErasingPath(path)
  try {
    await deleteDatabase(fresh)
    await copyWithout(path, fresh, workspaceIds)
    // DuckDB would replay a leftover log into the new file and so restore the erased hits.
    for (const log of [`${path}.wal`, `${fresh}.wal`])
      if (existsSync(log)) throw new Error(`${log} was not written into its database`)
    await syncToDisk(fresh)
    await renameDurably(fresh, path)
  } finally {
    await deleteDatabase(fresh)
  }
}

async function deleteDatabase(path: string) {
  for (const file of [path, `${path}.wal`]) await rm(file, { force: true })
}

async function copyWithout(path: string, fresh: string, workspaceIds: number[]) {
  try {
    await copyTables(path, fresh, workspaceIds)
  } catch (error) {
    if (!isDamage(error)) throw error
    // Roll-ups can be rebuilt, so damage in them must not prevent the erasure.
    log.error('hits.copied_without_roll_ups', { path, ...describeError(error) })
    await deleteDatabase(fresh)
    await copyTables(path, fresh, workspaceIds, dropRollUps)
  }
}

/** @param prepare changes the current database before it is copied */
async function copyTables(
  path: string,
  fresh: string,
  workspaceIds: number[],
  prepare?: (connection: DuckDBConnection) => Promise<void>,
) {
  const instance = await createMemoryInstance(MEMORY_MB, toSpillPath(path))
  const connection = await instance.connect()
  try {
    await connection.run(`ATTACH ${quoteLiteral(path)} AS kept`)
    await connection.run('USE kept')
    // Before the checkpoint, which reads the rows that it moves.
    await prepare?.(connection)
    await connection.run('CHECKPOINT kept')
    const version = await readStorageVersion(connection)
    await connection.run(`ATTACH ${quoteLiteral(fresh)} AS fresh (STORAGE_VERSION ${quoteLiteral(version)})`)
    await connection.run('COPY FROM DATABASE kept TO fresh (SCHEMA)')
    const withHits = await listTablesWith(connection, 'workspace_id')
    const ids = workspaceIds.map((id) => `${Number(id)}::BIGINT`).join(', ')
    for (const table of await listTablesWith(connection)) {
      const name = quoteIdentifier(table)
      const condition = withHits.includes(table) ? `WHERE workspace_id NOT IN (${ids})` : ''
      await connection.run(`INSERT INTO fresh.main.${name} SELECT * FROM kept.main.${name} ${condition}`)
    }
    if (withHits.includes('roll_days')) await lowerTotals(connection, `workspace_id IN (${ids})`)
    await connection.run('USE memory')
    await connection.run('CHECKPOINT fresh')
    await connection.run('DETACH fresh')
    await connection.run('DETACH kept')
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** The tables of the current database. With `column`: only the tables that have it. */
async function listTablesWith(connection: DuckDBConnection, column?: string): Promise<string[]> {
  const result = await connection.runAndReadAll(
    `SELECT table_name FROM duckdb_tables() AS tables
     WHERE database_name = current_database() AND NOT internal AND NOT temporary AND ($1 IS NULL OR EXISTS (
       FROM duckdb_columns() AS columns WHERE columns.table_oid = tables.table_oid
         AND columns.database_oid = tables.database_oid AND column_name = $1))`,
    [column ?? null],
  )
  return result.getRows().map(([name]) => String(name))
}

/** The storage version decides which compression a file may use. By default a new file has the oldest one. */
async function readStorageVersion(connection: DuckDBConnection): Promise<string> {
  const result = await connection.runAndReadAll(
    "SELECT regexp_extract(tags['storage_version'], 'v[0-9.]+') FROM duckdb_databases() WHERE database_name = 'kept'",
  )
  return String(result.getRows()[0]?.[0])
}
