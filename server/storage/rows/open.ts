// Opens the row store that the configuration names and brings it to the newest data model.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db, OnCommit, RowStore, Rows } from './engine.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

export type { Db, Engine, OnCommit, RowStore, Rows } from './engine.ts'

/** @param where `databaseUrl` (postgres://…) wins over the SQLite file `towpath.db` in `dataDir`. */
export async function openRows(where: { dataDir: string; databaseUrl?: string }): Promise<RowStore> {
  mkdirSync(where.dataDir, { recursive: true, mode: 0o700 })
  const { migrator, ...store } = where.databaseUrl
    ? openPostgres(where.databaseUrl)
    : openSqlite(join(where.dataDir, 'towpath.db'))
  try {
    await migrate(migrator, store.engine)
  } catch (error) {
    await store.close()
    throw error
  }
  return store
}

/**
 * The same store seen from inside a transaction: reads see its changes, writes are savepoints of it, and what
 * waits for the commit waits for the outer one.
 */
export function rowsWithin(rows: Rows, db: Db, onCommit: OnCommit): Rows {
  return {
    engine: rows.engine,
    read: db,
    async write(verb) {
      const own: (() => void)[] = []
      await sql`savepoint inner_verb`.execute(db)
      try {
        const value = await verb(db, (callback) => own.push(callback))
        await sql`release savepoint inner_verb`.execute(db)
        for (const callback of own) onCommit(callback)
        return value
      } catch (error) {
        await sql`rollback to savepoint inner_verb`.execute(db)
        await sql`release savepoint inner_verb`.execute(db)
        throw error
      }
    },
  }
}
