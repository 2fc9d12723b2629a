// Taking hits out for good. DuckDB only marks deleted rows, and the blocks it frees keep their bytes; so what must be
// nowhere any more is left out of a new file that takes the old one's place.

import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { syncToDisk } from '../../sync-to-disk.ts'
import { quoteIdentifier, quoteLiteral } from './values.ts'

const MEMORY_MB = 256

/** Deletes hits recorded before this moment. @returns how many, in whatever tables there are */
export async function deleteBefore(connection: DuckDBConnection, before: number): Promise<number> {
  let deleted = 0
  for (const table of await listTablesWith(connection, 'recorded_at')) {
    const text = `DELETE FROM ${quoteIdentifier(table)} WHERE recorded_at < $1::BIGINT`
    deleted += (await connection.run(text, [BigInt(before)])).rowsChanged
  }
  return deleted
}

/**
 * Writes a closed database anew without the hits of these workspaces. A crash in between leaves it as it was.
 * @throws when it cannot be read, or the disk has no room for a second one
 */
export async function eraseWorkspaces(path: string, workspaceIds: number[]): Promise<void> {
  if (!existsSync(path)) return
  const fresh = `${path}.erasing`
  try {
    for (const left of [fresh, `${fresh}.wal`]) await rm(left, { force: true })
    await copyWithout(path, fresh, workspaceIds)
    // A log that stayed would be replayed into the new file, and bring back what is gone.
    for (const log of [`${path}.wal`, `${fresh}.wal`])
      if (existsSync(log)) throw new Error(`${log} was not written into its database`)
    await syncToDisk(fresh)
    await rename(fresh, path)
    await syncToDisk(dirname(path))
  } finally {
    for (const left of [fresh, `${fresh}.wal`]) await rm(left, { force: true })
  }
}

async function copyWithout(path: string, fresh: string, workspaceIds: number[]) {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${MEMORY_MB}MB`,
    threads: '1',
    temp_directory: `${path}.tmp`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  try {
    await connection.run(`ATTACH ${quoteLiteral(path)} AS kept`)
    await connection.run('CHECKPOINT kept')
    const version = await readStorageVersion(connection)
    await connection.run(`ATTACH ${quoteLiteral(fresh)} AS fresh (STORAGE_VERSION ${quoteLiteral(version)})`)
    await connection.run('COPY FROM DATABASE kept TO fresh (SCHEMA)')
    await connection.run('USE kept')
    const withHits = await listTablesWith(connection, 'workspace_id')
    const ids = workspaceIds.map((id) => `${Number(id)}::BIGINT`).join(', ')
    for (const table of await listTablesWith(connection)) {
      const name = quoteIdentifier(table)
      const condition = withHits.includes(table) ? `WHERE workspace_id NOT IN (${ids})` : ''
      await connection.run(`INSERT INTO fresh.main.${name} SELECT * FROM kept.main.${name} ${condition}`)
    }
    await connection.run('USE memory')
    await connection.run('CHECKPOINT fresh')
    await connection.run('DETACH fresh')
    await connection.run('DETACH kept')
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** The tables of the database in use, or those of them that have the column. */
async function listTablesWith(connection: DuckDBConnection, column?: string): Promise<string[]> {
  const found = await connection.runAndReadAll(
    `SELECT table_name FROM duckdb_tables() AS tables
     WHERE database_name = current_database() AND NOT internal AND NOT temporary AND ($1 IS NULL OR EXISTS (
       FROM duckdb_columns() AS columns WHERE columns.table_oid = tables.table_oid
         AND columns.database_oid = tables.database_oid AND column_name = $1))`,
    [column ?? null],
  )
  return found.getRows().map(([name]) => String(name))
}

/** Which compression the file may use; a new one would have the most cautious. */
async function readStorageVersion(connection: DuckDBConnection): Promise<string> {
  const found = await connection.runAndReadAll(
    "SELECT regexp_extract(tags['storage_version'], 'v[0-9.]+') FROM duckdb_databases() WHERE database_name = 'kept'",
  )
  return String(found.getRows()[0]?.[0])
}
