// What a statement is given, in DuckDB's own types.

import { BIGINT, type DuckDBType, type DuckDBValue, LIST, listValue, VARCHAR } from '@duckdb/node-api'
import type { SqlValue } from '../hit-sql.ts'

export function toDuckDbType(value: SqlValue): DuckDBType {
  if (Array.isArray(value)) return LIST(typeof value[0] === 'string' ? VARCHAR : BIGINT)
  return typeof value === 'string' ? VARCHAR : BIGINT
}

export function toDuckDbValue(value: SqlValue): DuckDBValue {
  const one = (each: string | number) => (typeof each === 'number' ? BigInt(each) : each)
  return Array.isArray(value) ? listValue(value.map(one)) : one(value)
}

/** A text of ours (a path, a name) inside a statement that takes no values there. */
export const quoteLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`
export const quoteIdentifier = (name: string) => `"${name.replaceAll('"', '""')}"`
