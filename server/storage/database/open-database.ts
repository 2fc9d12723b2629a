// Opens the database that the configuration names, and runs its migrations.

import { mkdirSync } from 'node:fs'
import { Failure } from '../../lib/failure.ts'
import type { DatabaseHandle } from './database.ts'
import { listMigrations, migrate } from './migrate.ts'
import { toSqlitePath } from './open-reader.ts'
import { requireUsablePostgres, toPostgresProblem } from './postgres-problem.ts'
import { openSqlite, openSqliteMigrator } from './sqlite.ts'

export type { Change, Connection, Database, DatabaseEngine, DatabaseHandle, OnCommit } from './database.ts'

/**
 * Opens PostgreSQL if `databaseUrl` (postgres://…) is set, else the SQLite file `towpath.db` in `dataDir`.
 * @param where.isSoleServer SQLite only: no other process has caches. So the server stores no change rows, which would
 * make the creation of a link 2 to 7 % slower. It also syncs and checkpoints in threads
 * @param where.emptyLogEveryMs interval at which SQLite's write-ahead log is emptied: it has copies of erased rows
 */
export async function openDatabase(where: {
  dataDir: string
  databaseUrl?: string
  /** Connections of this process to PostgreSQL. */
  databasePool?: number
  isSoleServer?: boolean
  emptyLogEveryMs?: number
}): Promise<DatabaseHandle> {
  mkdirSync(where.dataDir, { recursive: true, mode: 0o700 })
  const path = toSqlitePath(where.dataDir)
  const engine = where.databaseUrl ? 'postgres' : 'sqlite'
  // Loads the driver only if it is used.
  const postgres = where.databaseUrl ? await import('./postgres.ts') : undefined
  const migrator =
    where.databaseUrl && postgres
      ? postgres.openPostgresMigrator(where.databaseUrl)
      : await openSqliteMigrator(path)
  try {
    if (engine === 'postgres') await requireUsablePostgres(migrator)
    await migrate(migrator, listMigrations(engine))
  } catch (error) {
    throw error instanceof Failure ? toPostgresProblem(error.cause) : error
  } finally {
    await migrator.destroy()
  }
  return where.databaseUrl && postgres
    ? postgres.openPostgres(where.databaseUrl, where.databasePool)
    : openSqlite(path, {
        storesChanges: !where.isSoleServer,
        usesThreads: where.isSoleServer,
        emptyLogEveryMs: where.emptyLogEveryMs,
      })
}
