// Passes lists of rows as one value of a statement, because Kysely needs longer for thousands of values than the database.

import { type RawBuilder, sql } from 'kysely'
import type { DatabaseEngine } from '../../../storage/database/database.ts'

/** One statement of SQLite takes about a millisecond, and blocks redirects. PostgreSQL runs in its own process. */
const ROWS_PER_STATEMENT = { sqlite: 100, postgres: 1000 }

/** A table with these columns of whole numbers. @param rows as many numbers as columns */
export function toNumberTable(
  engine: DatabaseEngine,
  columns: string[],
  rows: readonly (readonly number[])[],
): RawBuilder<unknown> {
  if (engine === 'sqlite') {
    const values = columns.map((name, index) => sql`value ->> ${sql.lit(index)} as ${sql.ref(name)}`)
    return sql`(select ${sql.join(values)} from json_each(${JSON.stringify(rows)}) where true)`
  }
  const lists = columns.map((_, index) => sql`${rows.map((row) => row[index])}::bigint[]`)
  return sql`(select * from unnest(${sql.join(lists)}) as listed (${sql.join(columns.map((name) => sql.ref(name)))}))`
}

/** Sorts the rows, so that two nodes that write the same rows cannot deadlock. */
export function* inStatements<Row extends readonly number[]>(
  engine: DatabaseEngine,
  rows: readonly Row[],
): Generator<Row[]> {
  const sorted = rows.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0))
  const most = ROWS_PER_STATEMENT[engine]
  for (let from = 0; from < sorted.length; from += most) yield sorted.slice(from, from + most)
}
