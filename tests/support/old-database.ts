// A database as version 0.1.0 left it, for tests of what an upgrade does to its rows.

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
import { listOldMigrations } from './upgrades/old-rows.ts'

interface OldDatabase {
  db: Kysely<Tables>
  /** Runs all migrations of this version. */
  upgrade(): Promise<void>
}

export async function withOldDatabase(
  engine: DatabaseEngine,
  use: (database: OldDatabase) => Promise<void>,
): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-migration-'))
  const database = engine === 'postgres' ? await createTestDatabase() : undefined
  const db = await (database
    ? openPostgresMigrator(database.url)
    : openSqliteMigrator(join(dataDir, 'towpath.db')))
  try {
    await migrate(db, listOldMigrations(engine))
    await use({ db, upgrade: () => migrate(db, listMigrations(engine)) })
  } finally {
    await db.destroy()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
