// Opens the database for reading only and runs no migration, to inspect a database in any state.

import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { DatabaseHandle } from './database.ts'
import { toPostgresProblem } from './postgres-problem.ts'
import { createSqliteKysely } from './sqlite-kysely.ts'

export type DatabaseReader = Pick<DatabaseHandle, 'engine' | 'read' | 'close'>

export const toSqlitePath = (dataDir: string) => join(dataDir, 'towpath.db')

/** @throws Error with a sentence for the operator */
export async function openDatabaseReader(where: {
  dataDir: string
  databaseUrl?: string
}): Promise<DatabaseReader> {
  return where.databaseUrl ? openPostgresReader(where.databaseUrl) : openSqliteReader(where.dataDir)
}

async function openPostgresReader(url: string): Promise<DatabaseReader> {
  const { openPostgresMigrator } = await import('./postgres.ts')
  const read = openPostgresMigrator(url)
  try {
    await sql`select 1`.execute(read)
  } catch (error) {
    await read.destroy()
    throw toPostgresProblem(error instanceof Error && error.cause ? error.cause : error)
  }
  return { engine: 'postgres', read, close: () => read.destroy() }
}

async function openSqliteReader(dataDir: string): Promise<DatabaseReader> {
  const database = openSqliteReadOnly(toSqlitePath(dataDir))
  return {
    engine: 'sqlite',
    read: createSqliteKysely(database),
    close: async () => database.close(),
  }
}

/** The version that comes with the runtime. */
export function readSqliteVersion(): string {
  const database = new Database(':memory:')
  const { version } = database.query('select sqlite_version() as version').get() as { version: string }
  database.close()
  return version
}

/** @throws when the file is no database, or cannot be read */
export function openSqliteReadOnly(path: string): Database {
  if (!existsSync(path)) throw new Error(`${path} is not there: no server has started on this directory.`)
  const database = new Database(path, { readonly: true, strict: true })
  try {
    database.run('PRAGMA busy_timeout=2000')
    database.run('PRAGMA trusted_schema=OFF')
    database.query('select count(*) from sqlite_schema').get()
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
