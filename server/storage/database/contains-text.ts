// SQL conditions: a column contains, or starts with, a searched text.

import { type SqlBool, sql } from 'kysely'
import { foldCase, foldMarks } from '../../lib/text.ts'
import type { DatabaseEngine } from './database.ts'

/**
 * Not LIKE: callers choose the text, and LIKE tries it at every place, a character at a time. 54 MB of the letter "a"
 * took 22.6 s for 199 times "a" and a "b" on SQLite, which blocks everything else meanwhile.
 * @param column has text in the form of `foldCase`, so that the search ignores case and composition
 */
export const containsText = (engine: DatabaseEngine, column: string, text: string) =>
  sql<SqlBool>`${position(engine, column, text)} > 0`

/** @param column has text in the form of `foldMarks`; rows of an earlier release have that of `foldCase` */
export function containsFolded(engine: DatabaseEngine, column: string, text: string) {
  const folded = foldMarks(text) || text
  const condition = containsText(engine, column, folded)
  if (folded === foldCase(text)) return condition
  return sql<SqlBool>`(${condition} or ${containsText(engine, column, text)})`
}

export const startsWithText = (engine: DatabaseEngine, column: string, text: string) =>
  sql<SqlBool>`${position(engine, column, text)} = 1`

const position = (engine: DatabaseEngine, column: string, text: string) =>
  engine === 'sqlite'
    ? sql`instr(${sql.ref(column)}, ${foldCase(text)})`
    : sql`strpos(${sql.ref(column)}, ${foldCase(text)})`
