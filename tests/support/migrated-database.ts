// Creates databases whose tables exist already: copies of one database, in which the migrations ran once.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { toSqlitePath } from '../../server/storage/database/open-reader.ts'
import { openDuckDb } from '../../server/storage/hits/duckdb/engine.ts'
import { toHitFilePath } from '../../server/storage/hits/duckdb/hit-file.ts'
import {
  createDatabase,
  createTestDatabase,
  dropAfterFile,
  type TestDatabase,
} from './postgres/postgres-server.ts'

let template: Promise<TestDatabase> | undefined

/** @returns a database as a server finds it at its second start */
export async function migratedDatabase(): Promise<TestDatabase> {
  // TEST_DATABASE_URL is somebody else's server: a template must not stay there for the next test file.
  if (process.env.TEST_DATABASE_URL) return createTestDatabase()
  template ??= createTemplate()
  return dropAfterFile(await createDatabase((await template).url))
}

let file: Promise<Buffer> | undefined

/** Puts a SQLite file into the directory, as a server finds it at its second start. */
export async function writeMigratedFile(dataDir: string): Promise<void> {
  file ??= inNewDir(async (dir) => {
    await (await openDatabase({ dataDir: dir })).close()
    return readFileSync(toSqlitePath(dir))
  })
  writeFileSync(toSqlitePath(dataDir), await file, { mode: 0o600 })
}

let hitFile: Promise<Buffer> | undefined

/** Puts a DuckDB file without hits into the directory, unless there is anything of one. It spares two thirds of opening it. */
export async function writeEmptyHitFile(dataDir: string): Promise<void> {
  const path = toHitFilePath(dataDir)
  if (readdirSync(dataDir).some((name) => name.startsWith(basename(path)))) return
  hitFile ??= inNewDir(async (dir) => {
    const engine = await openDuckDb({ path: toHitFilePath(dir), since: () => 0 })
    await engine.close()
    return readFileSync(toHitFilePath(dir))
  })
  writeFileSync(path, await hitFile, { mode: 0o600 })
}

const createTemplate = () =>
  inNewDir(async (dataDir) => {
    const database = await createDatabase()
    await (await openDatabase({ dataDir, databaseUrl: database.url })).close()
    return database
  })

async function inNewDir<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-template-'))
  try {
    return await use(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
