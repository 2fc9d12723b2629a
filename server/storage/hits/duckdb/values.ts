// Converts values for DuckDB: bound values to its types, and names and literals to quoted text.

import { BIGINT, type DuckDBType, type DuckDBValue, LIST, listValue, VARCHAR } from '@duckdb/node-api'
import type { SqlValue } from '../../filter-sql.ts'

export function toDuckDbType(value: SqlValue): DuckDBType {
  if (Array.isArray(value)) return LIST(typeof value[0] === 'string' ? VARCHAR : BIGINT)
  return typeof value === 'string' ? VARCHAR : BIGINT
}

export function toDuckDbValue(value: SqlValue): DuckDBValue {
  const convert = (item: string | number) => (typeof item === 'number' ? BigInt(item) : item)
  return Array.isArray(value) ? listValue(value.map(convert)) : convert(value)
}

/** Quotes a text of our own (a path, say) for a place in a statement that takes no bound value. */
export const quoteLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`
export const quoteIdentifier = (name: string) => `"${name.replaceAll('"', '""')}"`
