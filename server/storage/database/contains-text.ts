// The condition that a column contains a text that a caller searches for.

import { type SqlBool, sql } from 'kysely'
import { foldCase } from '../../lib/text.ts'

/** @param column has text in the form of `foldCase`, so that the search ignores case and composition */
export function containsText(column: string, text: string) {
  const pattern = `%${foldCase(text).replace(/[\\%_]/g, '\\$&')}%`
  return sql<SqlBool>`${sql.ref(column)} like ${pattern} escape '\\'`
}
