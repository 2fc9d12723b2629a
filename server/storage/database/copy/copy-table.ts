// Copies one table from SQLite to PostgreSQL in one transaction, and reads it there again to compare.

import type { Database as SqliteDatabase } from 'bun:sqlite'
import { CompiledQuery, type Kysely } from 'kysely'
import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import type { Connection } from '../database.ts'
import type { Tables } from '../tables.ts'
import { createRowDigester, type TableDigest, toPlainValue } from './row-digest.ts'
import { quoteName, quoteNames, type SourceTable, TABLES_WITH_FIRST_ROWS } from './source-tables.ts'

/** Characters of one insert: enough that the cost of the statement is small, and few enough for memory. */
const INSERT_LENGTH = 1024 * 1024
const FETCH_ROWS = 2000

export interface TableCopyOptions {
  /** Called after each insert with the rows so far. */
  onRows?: (rows: number) => void
  /** Runs at the end of the transaction. */
  onCopied(transaction: Connection, digest: TableDigest): Promise<void>
}

/** @returns the digest of the source. The target holds all rows, or, when this throws, none. */
export async function copyTable(
  source: SqliteDatabase,
  target: Connection,
  table: SourceTable,
  { onRows = () => {}, onCopied }: TableCopyOptions,
): Promise<TableDigest> {
  return target.transaction().execute(async (transaction) => {
    if (TABLES_WITH_FIRST_ROWS.includes(table.name))
      await runSql(transaction, `delete from ${quoteName(table.name)}`)
    const digester = createRowDigester()
    let rows = 0
    let lines: string[] = []
    let length = 0
    const insert = async () => {
      if (lines.length === 0) return
      await insertRows(transaction, table, `[${lines.join(',')}]`)
      lines = []
      length = 0
      onRows(rows)
    }
    for (const values of readRows(source, table)) {
      digester.add(values)
      const line = JSON.stringify(Object.fromEntries(table.columns.map((column, i) => [column, values[i]])))
      lines.push(line)
      rows++
      length += line.length
      if (length >= INSERT_LENGTH) await insert()
    }
    await insert()
    await advanceSequence(transaction, table)
    const digest = digester.finish()
    await onCopied(transaction, digest)
    return digest
  })
}

/** The digest of a table of the SQLite file. */
export async function digestSource(source: SqliteDatabase, table: SourceTable): Promise<TableDigest> {
  const digester = createRowDigester()
  let rows = 0
  for (const values of readRows(source, table)) {
    digester.add(values)
    if (++rows % FETCH_ROWS === 0) await nextTurn()
  }
  return digester.finish()
}

function* readRows(source: SqliteDatabase, table: SourceTable): Generator<unknown[]> {
  const { name, columns, key } = table
  const select = `select ${quoteNames(columns)} from ${quoteName(name)} order by ${quoteNames(key)}`
  for (const row of source.query(select).iterate() as Iterable<Record<string, unknown>>)
    yield toPlainValues(row, columns)
}

const toPlainValues = (row: Record<string, unknown>, columns: string[]) =>
  columns.map((column) => toPlainValue(row[column]))

/** The digest of the same table in PostgreSQL. */
export async function digestTarget(target: Connection, table: SourceTable): Promise<TableDigest> {
  return target.transaction().execute(async (transaction) => {
    const texts = await listTextColumns(transaction, table.name)
    // Sorts by bytes, as SQLite does.
    const order = table.key.map((column) => quoteName(column) + (texts.has(column) ? ' collate "C"' : ''))
    await runSql(
      transaction,
      `declare rows_to_compare no scroll cursor for
       select ${quoteNames(table.columns)} from ${quoteName(table.name)} order by ${order.join(', ')}`,
    )
    const digester = createRowDigester()
    for (;;) {
      const rows = await runSql(transaction, `fetch ${FETCH_ROWS} from rows_to_compare`)
      for (const row of rows) digester.add(toPlainValues(row, table.columns))
      if (rows.length < FETCH_ROWS) return digester.finish()
    }
  })
}

/** One parameter for all rows: PostgreSQL turns the JSON into rows of the table's own types. */
const insertRows = (transaction: Connection, { name, columns }: SourceTable, rows: string) =>
  runSql(
    transaction,
    `insert into ${quoteName(name)} (${quoteNames(columns)})
     select ${quoteNames(columns)} from json_populate_recordset(null::${quoteName(name)}, $1)`,
    [rows],
  )

/** Makes the next row get an id above all that were ever used. */
async function advanceSequence(transaction: Connection, { name, key, lastId }: SourceTable) {
  if (lastId === undefined) return
  await runSql(transaction, 'select setval(pg_get_serial_sequence($1, $2), $3, $4)', [
    quoteName(name),
    key[0],
    Math.max(1, lastId),
    lastId > 0,
  ])
}

async function listTextColumns(connection: Connection, table: string): Promise<Set<string>> {
  const rows = await runSql(
    connection,
    `select column_name from information_schema.columns
     where table_schema = current_schema() and table_name = $1 and data_type = 'text'`,
    [table],
  )
  return new Set(rows.map((row) => String(row.column_name)))
}

export async function runSql(
  connection: Kysely<Tables>,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const { rows } = await connection.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, values))
  return rows
}
