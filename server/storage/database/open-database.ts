// Opens the row store that the configuration names and brings it to the newest data model.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Connection, Database, DatabaseHandle, OnCommit, TransactionBody } from './database.ts'
import { listMigrations, migrate } from './migrate.ts'
import { openPostgres, openPostgresMigrator } from './postgres.ts'
import { openSqlite, openSqliteMigrator } from './sqlite.ts'

export type { Connection, Database, DatabaseEngine, DatabaseHandle, OnCommit } from './database.ts'

/** @param where `databaseUrl` (postgres://…) wins over the SQLite file `towpath.db` in `dataDir`. */
export async function openDatabase(where: {
  dataDir: string
  databaseUrl?: string
}): Promise<DatabaseHandle> {
  mkdirSync(where.dataDir, { recursive: true, mode: 0o700 })
  const path = join(where.dataDir, 'towpath.db')
  const engine = where.databaseUrl ? 'postgres' : 'sqlite'
  const migrator = where.databaseUrl
    ? openPostgresMigrator(where.databaseUrl)
    : await openSqliteMigrator(path)
  try {
    await migrate(migrator, listMigrations(engine))
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Error('The database cannot be reached.', { cause: error.cause })
  } finally {
    await migrator.destroy()
  }
  return where.databaseUrl ? openPostgres(where.databaseUrl) : openSqlite(path)
}

/**
 * The same store seen from inside a transaction: reads see its changes, writes are savepoints of it, and what
 * waits for the commit waits for the outer one.
 */
export function toNestedDatabase(db: Database, connection: Connection, onCommit: OnCommit): Database {
  let last: Promise<unknown> = Promise.resolve()

  async function inSavepoint<T>(verb: TransactionBody<T>): Promise<T> {
    const own: (() => void)[] = []
    await sql`savepoint inner_verb`.execute(connection)
    try {
      const value = await verb(connection, (callback) => own.push(callback))
      await sql`release savepoint inner_verb`.execute(connection)
      for (const callback of own) onCommit(callback)
      return value
    } catch (error) {
      await rollbackToSavepoint(connection)
      throw error
    }
  }

  return {
    engine: db.engine,
    read: connection,
    // One after the other: savepoints of one connection cannot overlap, only nest.
    write(verb) {
      const turn = last.then(() => inSavepoint(verb))
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

async function rollbackToSavepoint(connection: Connection) {
  try {
    await sql`rollback to savepoint inner_verb`.execute(connection)
    await sql`release savepoint inner_verb`.execute(connection)
  } catch (lost) {
    // The whole transaction went with the connection or the disk; why is what the verb's own error says.
    log.warn('savepoint_lost', describeError(lost))
  }
}
