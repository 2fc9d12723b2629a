// Reads the rows of tables from an SQL dump (mysqldump, phpMyAdmin, sqlite3) in pieces. It executes nothing: it only parses
// CREATE TABLE and INSERT, and skips every other statement.

import type { RecordReader } from './csv-reader.ts'
import { FileProblem, type FileRecord, type FileTable } from './source-file.ts'
import { findSqlEnd, INCOMPLETE, readSqlLiteral, readSqlName, skipSqlBlanks } from './sql-tokens.ts'

/** A longer row cannot be a link. */
const ROW_CHARS_MAX = 4 * 1024 * 1024
const COLUMNS_MAX = 1_000

type Mode =
  | { kind: 'statement' }
  | { kind: 'skip'; inside: string }
  | { kind: 'rows'; table: string; columns: string[] | null; expects: 'row' | 'comma' }

const INSERT = /^(?:INSERT|REPLACE)\b/i
const CREATE = /^CREATE\s+TABLE\b/i
/** The characters at the start of a statement that decide its kind. */
const START_CHARS = 64

export class SqlReader implements RecordReader {
  readonly records: FileRecord[] = []
  /** Tables in the order of their first CREATE or INSERT. */
  readonly tables = new Map<string, FileTable>()
  row = 1
  #text = ''
  #pieces: string[] = []
  #waiting = 0
  #mode: Mode = { kind: 'statement' }
  readonly #isWanted: (table: string) => boolean

  readonly #isSqlite: boolean

  constructor(isWanted: (table: string) => boolean, isSqlite = false) {
    this.#isWanted = isWanted
    this.#isSqlite = isSqlite
  }

  write(text: string): void {
    // In SQLite a backslash is an ordinary character, so it is doubled for the rules of MySQL.
    this.#pieces.push(this.#isSqlite ? text.replaceAll('\\', '\\\\') : text)
    this.#waiting += text.length
    // An incomplete row is parsed again only when its length has doubled.
    if (this.#waiting < this.#text.length) return
    this.#parse(false)
    if (this.#text.length > ROW_CHARS_MAX)
      throw new FileProblem(`Row ${this.row} of the SQL dump is longer than 4 MiB.`)
  }

  settle(): void {
    this.#parse(false)
  }

  end(): void {
    this.#parse(true)
    if (this.#mode.kind !== 'statement' || this.#text.trim() !== '')
      throw new FileProblem('The SQL dump ends in the middle of a statement. Is the file complete?')
  }

  #parse(isEnd: boolean): void {
    const text = this.#text + this.#pieces.join('')
    this.#pieces = []
    this.#waiting = 0
    let at = 0
    for (;;) {
      const next = this.#step(text, at, isEnd)
      if (next === INCOMPLETE) break
      at = next
    }
    this.#text = text.slice(at)
  }

  /** @returns the beginning of the next step, or INCOMPLETE */
  #step(text: string, at: number, isEnd: boolean): number {
    if (this.#mode.kind === 'skip') return this.#skip(this.#mode, text, at, isEnd)
    const start = skipSqlBlanks(text, at, isEnd)
    if (start === INCOMPLETE) return INCOMPLETE
    if (start === text.length) return start === at ? INCOMPLETE : start
    return this.#mode.kind === 'rows'
      ? this.#readRow(this.#mode, text, start)
      : this.#startStatement(text, start, isEnd)
  }

  #skip(mode: { inside: string }, text: string, at: number, isEnd: boolean): number {
    if (at === text.length) return INCOMPLETE
    const { end, inside, isDone } = findSqlEnd(text, at, mode.inside, isEnd)
    if (isDone) this.#mode = { kind: 'statement' }
    else mode.inside = inside
    return end === at && !isDone ? INCOMPLETE : end
  }

  #startStatement(text: string, at: number, isEnd: boolean): number {
    const start = text.slice(at, at + START_CHARS)
    if (start.length < START_CHARS && !isEnd && !start.includes(';')) return INCOMPLETE
    if (start.startsWith(';')) return at + 1
    if (INSERT.test(start)) return this.#startInsert(text, at, isEnd)
    if (CREATE.test(start)) return this.#readCreate(text, at, isEnd)
    this.#mode = { kind: 'skip', inside: '' }
    return at
  }

  #startInsert(text: string, at: number, isEnd: boolean): number {
    const { at: named, words, name } = readSqlName(text, at, isEnd)
    if (named === INCOMPLETE) return INCOMPLETE
    if (name === null || words.at(-1) !== 'INTO') return this.#skipFrom(at)
    let next = skipSqlBlanks(text, named, false)
    let columns: string[] | null = null
    if (next !== INCOMPLETE && text[next] === '(') {
      const list = readNames(text, next)
      if (list === null) return INCOMPLETE
      columns = list.names
      next = skipSqlBlanks(text, list.end, false)
    }
    if (next === INCOMPLETE || next + 6 > text.length) return INCOMPLETE
    const values = /^VALUES?\b/i.exec(text.slice(next, next + 7))
    if (!values) return this.#skipFrom(at)
    const known = this.#note(name, columns)
    if (!this.#isWanted(name)) return this.#skipFrom(next)
    if (columns) requireFewColumns(name, columns)
    if (known.length === 0 && columns === null)
      throw new FileProblem(
        `The SQL dump has rows of ${name}, and neither says its columns nor creates the table. Export it with its structure.`,
      )
    this.#mode = { kind: 'rows', table: name, columns: columns ?? known, expects: 'row' }
    return next + values[0].length
  }

  #skipFrom(at: number): number {
    this.#mode = { kind: 'skip', inside: '' }
    return at
  }

  #note(name: string, columns: string[] | null): string[] {
    const table = this.tables.get(name)
    if (table) return table.columns
    this.tables.set(name, { name, columns: columns ?? [] })
    return columns ?? []
  }

  #readCreate(text: string, at: number, isEnd: boolean): number {
    const { at: named, name } = readSqlName(text, at, isEnd)
    if (named === INCOMPLETE) return INCOMPLETE
    const open = skipSqlBlanks(text, named, false)
    if (open === INCOMPLETE || open >= text.length) return INCOMPLETE
    if (name === null || text[open] !== '(') return this.#skipFrom(at)
    const columns = readDefinitions(text, open)
    if (columns === null) return INCOMPLETE
    this.tables.set(name, { name, columns: requireFewColumns(name, columns) })
    return this.#skipFrom(open)
  }

  #readRow(mode: Mode & { kind: 'rows' }, text: string, at: number): number {
    const char = text[at]
    if (mode.expects === 'comma') {
      if (char === ',') {
        mode.expects = 'row'
        return at + 1
      }
      return this.#skipFrom(at)
    }
    if (char !== '(') throw this.#broken(text, at)
    const values: (string | null)[] = []
    let next = at + 1
    // `'one' || char(10) || 'two'`
    let isJoined = false
    for (;;) {
      next = skipSqlBlanks(text, next, false)
      if (next === INCOMPLETE || next >= text.length) return INCOMPLETE
      const value = readSqlLiteral(text, next)
      if (value === null) return INCOMPLETE
      if (isJoined) values.push(`${values.pop() ?? ''}${value.value ?? ''}`)
      else values.push(value.value)
      if (values.length > COLUMNS_MAX) throw this.#broken(text, at)
      next = skipSqlBlanks(text, value.end, false)
      if (next === INCOMPLETE || next >= text.length || text.slice(next) === '|') return INCOMPLETE
      isJoined = text.startsWith('||', next)
      if (isJoined) {
        next += 2
        continue
      }
      if (text[next] === ')') break
      if (text[next] !== ',') throw this.#broken(text, next)
      next++
    }
    this.#add(mode.table, mode.columns ?? [], values)
    mode.expects = 'comma'
    return next + 1
  }

  #broken(text: string, at: number): FileProblem {
    const near = JSON.stringify(text.slice(at, at + 20))
    return new FileProblem(`The SQL dump is broken at row ${this.row}, near ${near}. Export it again.`)
  }

  #add(table: string, columns: string[], values: (string | null)[]): void {
    const fields = new Map<string, string | null>()
    // As in CSV, missing values are left out.
    const count = Math.min(columns.length, values.length)
    for (let index = 0; index < count; index++) fields.set(columns[index] as string, values[index] ?? null)
    const record: FileRecord = { row: this.row++, table, fields, columns }
    if (values.length !== columns.length) {
      const message = `The row has ${values.length} values, and the table ${columns.length} columns. Export the table again.`
      record.problem = { field: 'row', value: values.join(', ').slice(0, 200), message }
    }
    this.records.push(record)
  }
}

function requireFewColumns(table: string, columns: string[]): string[] {
  if (columns.length <= COLUMNS_MAX) return columns
  throw new FileProblem(`The table ${table} has more than ${COLUMNS_MAX} columns.`)
}

/** The names in `(a, b)`. @returns null if the text ends first */
function readNames(text: string, open: number): { names: string[]; end: number } | null {
  const close = text.indexOf(')', open)
  if (close < 0) return null
  const names = text
    .slice(open + 1, close)
    .split(',')
    .map((name) => name.trim().replace(/^[`"[]|[`"\]]$/g, ''))
  return { names, end: close + 1 }
}

const NO_COLUMN = /^(?:PRIMARY|KEY|UNIQUE|INDEX|FULLTEXT|SPATIAL|CONSTRAINT|FOREIGN|CHECK)\b/i

/** The columns of CREATE TABLE. @returns null if the text ends first */
function readDefinitions(text: string, open: number): string[] | null {
  const columns: string[] = []
  let depth = 0
  let isStart = false
  for (let at = open; ; ) {
    at = skipSqlBlanks(text, at, false)
    if (at === INCOMPLETE || at >= text.length) return null
    const char = text[at] as string
    if (isStart) {
      isStart = false
      const name = /^(?:`((?:[^`]|``)+)`|"([^"]+)"|\[([^\]]+)\]|([\w$]+))/.exec(text.slice(at, at + 200))
      if (name && (name[4] === undefined || !NO_COLUMN.test(name[4])))
        columns.push(name[1] ?? name[2] ?? name[3] ?? (name[4] as string))
    }
    if (char === "'" || char === '"' || char === '`') {
      const value = readSqlLiteral(text, at)
      if (value === null) return null
      at = value.end
      continue
    }
    if (char === '(') {
      depth++
      isStart = depth === 1
    } else if (char === ')') {
      if (--depth === 0) return columns
    } else if (char === ',' && depth === 1) isStart = true
    at++
  }
}
