// The PostgreSQL database that rows are copied into. It must be empty, or have an earlier part of the same copy.

import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../database.ts'
import { listMigrations, migrate } from '../migrate.ts'
import { openPostgresMigrator } from '../postgres.ts'
import { runSql } from './copy-table.ts'
import {
  quoteName,
  quoteNames,
  type SourceTable,
  TABLES_WITH_FIRST_ROWS,
  TOOL_TABLES,
} from './source-tables.ts'

/**
 * Opens the database and brings its tables up to date.
 * @throws a sentence when it cannot be reached, or when another program has its tables there
 */
export async function openCopyTarget(url: string): Promise<Connection> {
  const target = openPostgresMigrator(url)
  try {
    const tables = await listTables(target)
    if (tables.length > 0 && !tables.includes('kysely_migration')) {
      throw new Error(
        `The PostgreSQL database is not empty: it has the table ${tables[0]}, which is not of Towpath. ` +
          'Create a database only for Towpath, and use that one.',
      )
    }
    await migrate(target, listMigrations('postgres'))
    return target
  } catch (error) {
    await target.destroy()
    if (!(error instanceof Failure)) throw error
    throw new Error('The PostgreSQL database cannot be reached. Check --to-database.', { cause: error.cause })
  }
}

async function listTables(target: Connection): Promise<string[]> {
  const rows = await runSql(
    target,
    `select table_name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE' order by table_name`,
  )
  return rows.map((row) => String(row.table_name))
}

/** The first table that has rows other than those of the migrations. */
export async function findFilledTable(target: Connection): Promise<string | undefined> {
  for (const name of await listTables(target)) {
    if (TOOL_TABLES.test(name) || TABLES_WITH_FIRST_ROWS.includes(name)) continue
    const rows = await runSql(target, `select 1 from ${quoteName(name)} limit 1`)
    if (rows.length > 0) return name
  }
  return undefined
}

/** Deletes all rows of these tables in one transaction, so that they can be copied again. */
export async function emptyTables(target: Connection, tables: SourceTable[]): Promise<void> {
  await target.transaction().execute(async (transaction) => {
    const names = tables.map(({ name }) => name)
    // Triggers refuse deletions from the audit log. Here they are only copies: the source keeps its rows.
    for (const name of names) await runSql(transaction, `alter table ${quoteName(name)} disable trigger user`)
    await runSql(transaction, `truncate ${quoteNames(names)}`)
    for (const name of names) await runSql(transaction, `alter table ${quoteName(name)} enable trigger user`)
  })
}
