// Runs SQL text, for queries whose shape depends on the request. All values are bound; all names in the text come from
// constant maps.

import { CompiledQuery } from 'kysely'
import type { FilterDialect, SqlValue, ValueBinder } from '../filter-sql.ts'
import { type OriginJoinDialect, toLastLabelsPattern } from '../sources/origin-sql.ts'
import type { Database, DatabaseEngine } from './database.ts'

export interface DatabaseDialect extends FilterDialect, Partial<OriginJoinDialect> {
  lower(column: string): string
  /** The value in the form that the driver takes. */
  value(value: SqlValue): unknown
}

const toPostgresType = (value: SqlValue): string =>
  Array.isArray(value) ? `${toPostgresType(value[0] ?? '')}[]` : typeof value === 'number' ? 'bigint' : 'text'

const DIALECTS: Record<DatabaseEngine, DatabaseDialect> = {
  sqlite: {
    placeholder: (n) => `?${n}`,
    isInList: (column, list) => `${column} IN (SELECT value FROM json_each(${list}))`,
    lower: (column) => `lower(${column})`,
    value: (value) => (Array.isArray(value) ? JSON.stringify(value) : value),
  },
  postgres: {
    // Without a type PostgreSQL infers one, and can infer different types for one parameter.
    placeholder: (n, value) => `$${n}::${toPostgresType(value)}`,
    isInList: (column, list) => `${column} = ANY(${list})`,
    lower: (column) => `lower(${column})`,
    listTable: (list) => `(SELECT unnest(${list}) AS value)`,
    lastLabels: (host, count) => `substring(${host} from '${toLastLabelsPattern(count)}')`,
    value: (value) => value,
  },
}

/** @param write builds the text; it must pass every value through `bind` */
export async function queryRaw<Row>(
  { engine, read }: Pick<Database, 'engine' | 'read'>,
  write: (dialect: DatabaseDialect, bind: ValueBinder) => string,
): Promise<Row[]> {
  const dialect = DIALECTS[engine]
  const values: unknown[] = []
  const bind: ValueBinder = (value) => dialect.placeholder(values.push(dialect.value(value)), value)
  const text = write(dialect, bind)
  const { rows } = await read.executeQuery<Row>(CompiledQuery.raw(text, values))
  return rows
}
