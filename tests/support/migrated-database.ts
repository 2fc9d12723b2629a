// Creates PostgreSQL databases whose tables exist already: copies of one database, in which the migrations ran once.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../server/storage/database/open-database.ts'
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

async function createTemplate(): Promise<TestDatabase> {
  const database = await createDatabase()
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-template-'))
  const db = await openDatabase({ dataDir, databaseUrl: database.url })
  await db.close()
  rmSync(dataDir, { recursive: true, force: true })
  return database
}
