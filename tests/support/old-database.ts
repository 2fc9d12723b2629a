// A database as an earlier version left it, for tests of one migration.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../../server/storage/database/database.ts'
import { listMigrations, migrate } from '../../server/storage/database/migrate.ts'
import { openPostgresMigrator } from '../../server/storage/database/postgres.ts'
import { openSqliteMigrator } from '../../server/storage/database/sqlite.ts'
import type { Tables } from '../../server/storage/database/tables.ts'
import { createTestDatabase } from './postgres/postgres-server.ts'

interface OldDatabase {
  db: Kysely<Tables>
  /** @param until the number of the first migration that does not run; all run when absent */
  upgrade(until?: string): Promise<void>
}

/** @param before the number of the first migration that the database does not have, such as `0019` */
export async function withOldDatabase(
  engine: DatabaseEngine,
  before: string,
  use: (database: OldDatabase) => Promise<void>,
): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-migration-'))
  const database = engine === 'postgres' ? await createTestDatabase() : undefined
  const db = await (database
    ? openPostgresMigrator(database.url)
    : openSqliteMigrator(join(dataDir, 'towpath.db')))
  const all = Object.entries(listMigrations(engine))
  const upgrade = (until?: string) =>
    migrate(db, Object.fromEntries(all.filter(([name]) => until === undefined || name < until)))
  try {
    await upgrade(before)
    await use({ db, upgrade })
  } finally {
    await db.destroy()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
