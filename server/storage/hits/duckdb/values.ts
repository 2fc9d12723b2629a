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

/** Texts without a character that could end a literal. */
const PLAIN_WORDS = /^[\w ]*$/

/**
 * Writes the values of a statement into its text, if all of them are whole numbers and plain words. DuckDB plans a statement with
 * bound values twice, without and with the values. This takes a millisecond, a large part of a small question.
 * @returns undefined if a value must be bound. Lists must be bound, because a long list is slower as text
 */
export function inlinePlainValues(text: string, params: readonly SqlValue[]): string | undefined {
  const literals: string[] = []
  for (const value of params) {
    if (typeof value === 'number') literals.push(`(${BigInt(value)})`)
    else if (typeof value === 'string' && PLAIN_WORDS.test(value)) literals.push(`'${value}'`)
    else return undefined
  }
  return text.replace(/\$(\d+)/g, (_, number) => literals[Number(number) - 1] as string)
}

/** Quotes a text of our own, such as a path, for a place in a statement that accepts no bound value. */
export const quoteLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`
export const quoteIdentifier = (name: string) => `"${name.replaceAll('"', '""')}"`
