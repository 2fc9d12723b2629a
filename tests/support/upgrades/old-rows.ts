// The rows of version 0.1.0 in a database of either engine, for tests of migrations that fail.

import { Database } from 'bun:sqlite'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, type Migration, sql } from 'kysely'
import type { Connection, DatabaseEngine } from '../../../server/storage/database/database.ts'
import { listMigrations, migrate } from '../../../server/storage/database/migrate.ts'
import { openPostgresMigrator } from '../../../server/storage/database/postgres.ts'
import { openSqliteMigrator } from '../../../server/storage/database/sqlite.ts'
import type { Tables } from '../../../server/storage/database/tables.ts'
import { createDatabase } from '../postgres/postgres-server.ts'
import { describeSchema } from './describe-schema.ts'
import { unpackReleaseData } from './release-data.ts'

/** The last migration of version 0.1.0. */
const LAST_OLD = '0009-interrupted'

const FOREIGN_KEY_VIOLATION = '23503'

export const listNewMigrations = (engine: DatabaseEngine): string[] =>
  Object.keys(listMigrations(engine)).filter((name) => name > LAST_OLD)

export const listOldMigrations = (engine: DatabaseEngine): Record<string, Migration> =>
  Object.fromEntries(Object.entries(listMigrations(engine)).filter(([name]) => name <= LAST_OLD))

export interface RowsPlace {
  engine: DatabaseEngine
  /** The path of a SQLite file, or the URL of a PostgreSQL database. */
  address: string
}

export const openMigrator = async ({ engine, address }: RowsPlace): Promise<Connection> =>
  engine === 'postgres' ? openPostgresMigrator(address) : openSqliteMigrator(address)

/** Makes as many databases with the old rows as a test needs, each in milliseconds. */
export async function createOldRows(engine: DatabaseEngine) {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-old-rows-'))
  const oldFile = await writeSqliteFile(dir)
  const template = engine === 'postgres' ? await writePostgres(oldFile) : undefined
  let copies = 0
  return {
    async use(test: (place: RowsPlace) => Promise<void>): Promise<void> {
      const copy = template ? await createDatabase(template.url) : undefined
      const address = copy?.url ?? join(dir, `copy-${++copies}.db`)
      if (!copy) cpSync(oldFile, address)
      try {
        await test({ engine, address })
      } finally {
        await copy?.drop()
      }
    },
    async close() {
      await template?.drop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function writeSqliteFile(dir: string): Promise<string> {
  const dataDir = unpackReleaseData('0.1.0')
  const database = new Database(join(dataDir, 'towpath.db'))
  const path = join(dir, 'old.db')
  database.run('VACUUM INTO ?', [path])
  database.close()
  rmSync(dataDir, { recursive: true, force: true })
  return path
}

async function writePostgres(oldFile: string) {
  const created = await createDatabase()
  const db = openPostgresMigrator(created.url)
  const old = new Database(oldFile, { readonly: true })
  await migrate(db, listOldMigrations('postgres'))
  // A table waits until the rows that it refers to are there.
  for (let waiting = listTables(old); waiting.length > 0; ) {
    const copied: string[] = []
    for (const table of waiting) if (await tryToCopyRows(old, db, table)) copied.push(table)
    if (copied.length === 0) throw new Error(`${waiting.join(', ')} refer to rows that are not there`)
    waiting = waiting.filter((table) => !copied.includes(table))
  }
  old.close()
  await db.destroy()
  return created
}

async function tryToCopyRows(from: Database, to: Kysely<Tables>, table: string): Promise<boolean> {
  const rows = from.query(`select * from "${table}"`).all() as Record<string, unknown>[]
  const toText = (value: unknown) =>
    value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value
  const json = JSON.stringify(
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toText(value)]))),
  )
  const target = sql.table(table)
  const insert = sql`insert into ${target} select * from json_populate_recordset(null::${target}, ${json}::json)`
  try {
    await insert.execute(to)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === FOREIGN_KEY_VIOLATION) return false
    throw error
  }
}

const listTables = (database: Database) =>
  (database.query("select name from sqlite_master where type = 'table'").all() as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !/^(sqlite|kysely)_/.test(name))

/** @returns the schema, and each table with its rows: equal texts for equal databases */
export async function dumpRows(place: RowsPlace): Promise<string> {
  const db = await openMigrator(place)
  try {
    const lines: unknown[] = await describeSchema(place.engine, db)
    const internal = await db.introspection.getTables({ withInternalKyselyTables: true })
    for (const { name } of internal.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      lines.push([name, (await sql`select * from ${sql.table(name)} order by 1, 2`.execute(db)).rows])
    return lines.map((line) => JSON.stringify(line)).join('\n')
  } finally {
    await db.destroy()
  }
}
