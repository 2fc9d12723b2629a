// What a statement is given, in DuckDB's own types.

import { BIGINT, type DuckDBType, type DuckDBValue, LIST, listValue, VARCHAR } from '@duckdb/node-api'
import type { SqlValue } from './sql.ts'

export function typeOf(value: SqlValue): DuckDBType {
  if (Array.isArray(value)) return LIST(typeof value[0] === 'string' ? VARCHAR : BIGINT)
  return typeof value === 'string' ? VARCHAR : BIGINT
}

export function bindable(value: SqlValue): DuckDBValue {
  const one = (each: string | number) => (typeof each === 'number' ? BigInt(each) : each)
  return Array.isArray(value) ? listValue(value.map(one)) : one(value)
}

/** A text of ours (a path, a name) inside a statement that takes no values there. */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`
