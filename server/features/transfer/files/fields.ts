// Reads the fields of a record by their names in tools, and collects problems.

import { isCleanText } from '../../../lib/text.ts'
import { readTime, type TimeOptions } from './read-time.ts'
import type { FieldProblem, FileRecord } from './source-file.ts'

const VALUE_MAX = 200
/** Problems shown for one record. Every part of a list of a megabyte could be wrong. */
const PROBLEMS_MAX = 20
/** Entries of one list: no link has more tags or short URLs. */
const LIST_MAX = 1_000

/** The fields of one record. Names are found without regard to case, blanks and underscores. */
export class FieldReader {
  readonly problems: FieldProblem[]
  readonly record: FileRecord
  /** The prefix of field names in problems, such as `meta.`. */
  readonly #path: string

  constructor(record: FileRecord, path = '', problems: FieldProblem[] = []) {
    this.record = record
    this.#path = path
    this.problems = problems
    if (record.problem) this.problems.push(record.problem)
  }

  /** A reader of an object in a field, with the same list of problems. Null if the field has no object. */
  inner(name: string): FieldReader | null {
    const value = this.raw(name)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    const fields = new Map(Object.entries(value))
    return new FieldReader(
      { row: this.record.row, table: null, fields },
      `${this.#path}${name}.`,
      this.problems,
    )
  }

  /** The value of the first name that the record has; undefined if it has none. */
  raw(...names: string[]): unknown {
    for (const name of names) {
      const column = findColumn(this.record, name)
      if (column === undefined) continue
      const { fields, columns, table } = this.record
      const value = fields.get(column)
      // A row that is too short has an empty cell in CSV, and NULL in SQL.
      return value === undefined && columns ? (table === null ? '' : null) : value
    }
    return undefined
  }

  /** The trimmed text; null if it is empty. */
  text(...names: string[]): string | null {
    const value = this.raw(...names)
    if (value === undefined || value === null || value === '') return null
    if (typeof value === 'string') return this.#clean(names, value)
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    this.add(names, value, 'This must be a text.')
    return null
  }

  /** The first name that the record has, as the file writes it, for a problem. */
  #findName(names: string[]): string {
    return names.find((name) => findColumn(this.record, name) !== undefined) ?? (names[0] as string)
  }

  #clean(names: string[], value: string): string | null {
    const text = value.trim()
    if (!isCleanText(text)) {
      this.add(names, text, 'The text has a NUL character or half a character. Remove it.')
      return null
    }
    return text === '' ? null : text
  }

  /** A JSON list of texts or of objects with a name, or the parts of a text. Empty and repeated ones are dropped. */
  list(separator: string | RegExp, ...names: string[]): string[] {
    const value = this.raw(...names)
    if (value === undefined || value === null || value === '') return []
    const parts = Array.isArray(value) ? value : String(this.text(...names) ?? '').split(separator)
    const texts = new Set<string>()
    for (const element of parts) {
      const part = toName(element)
      const text = typeof part === 'string' || typeof part === 'number' ? String(part).trim() : null
      if (text === null || !isCleanText(text)) this.add(names, part, 'Each part of the list must be a text.')
      else if (text !== '') texts.add(text)
      if (texts.size === LIST_MAX || this.problems.length >= PROBLEMS_MAX) break
    }
    return [...texts]
  }

  /** A whole number from 0; `1,234` and `1 234` too. */
  number(...names: string[]): number | null {
    const value = this.raw(...names)
    if (value === undefined || value === null || value === '') return null
    const text = toPlainText(value)
    if (text === '') return null
    const digits = /^\d{1,3}(?:[,.\u00a0\u202f' ]\d{3})+$/.test(text) ? text.replace(/\D/g, '') : text
    const number = /^\d+(?:\.0+)?$/.test(digits) ? Number(digits) : Number.NaN
    if (Number.isSafeInteger(number)) return number
    this.add(names, value, 'This must be a whole number, 0 or more.')
    return null
  }

  /** `true`, `1`, `yes` and similar; false for an empty field. */
  flag(...names: string[]): boolean {
    const value = this.raw(...names)
    if (value === undefined || value === null || value === '') return false
    if (typeof value === 'boolean') return value
    const text = toPlainText(value).toLowerCase()
    if (TRUE.includes(text)) return true
    if (!FALSE.includes(text)) this.add(names, value, 'This must be true or false.')
    return false
  }

  /** Milliseconds; null for an empty field. */
  time(options: TimeOptions, ...names: string[]): number | null {
    const value = this.raw(...names)
    if (value === undefined || value === null || value === '') return null
    const text = toPlainText(value)
    // MySQL's form of a missing date.
    if (text === '' || text === '0000-00-00 00:00:00') return null
    if (options.dateOrders) options.dateOrders.field = this.#findName(names)
    const at = readTime(text, options)
    if (typeof at === 'number') return at
    this.add(names, value, at.message)
    return null
  }

  /** A required text: '' and a problem if it is missing. */
  required(message: string, ...names: string[]): string {
    const known = this.problems.length
    const text = this.text(...names)
    if (text === null && this.problems.length === known && !this.record.problem)
      this.add(names, null, message)
    return text ?? ''
  }

  /** Adds a problem with a field, under its name in the file. */
  add(names: string | string[], value: unknown, message: string): void {
    if (this.problems.length >= PROBLEMS_MAX) return
    const name = typeof names === 'string' ? names : this.#findName(names)
    const field = findColumn(this.record, name) ?? name
    this.problems.push({ field: this.#path + field, value: toShown(value), message })
  }
}

const TRUE = ['true', '1', 'yes', 'y', 't', 'on']
const FALSE = ['false', '0', 'no', 'n', 'f', 'off', '']

/** Does not use `String`, because an object of a JSON file can have its own `toString`. */
const toPlainText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)).trim()

/** Replaces lone surrogates and NUL, so that both databases can store the text. */
function toShown(value: unknown): string | null {
  if (value === undefined || value === null) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.slice(0, VALUE_MAX).toWellFormed().replaceAll('\0', '\ufffd')
}

const toName = (value: unknown) =>
  typeof value === 'object' && value !== null && 'name' in value ? value.name : value

/** True if a value of a JSON file is a text that both databases can store. */
export const isTextValue = (value: unknown): value is string =>
  typeof value === 'string' && isCleanText(value)

/** Removes case, blanks, `_` and `-`: `Created At`, `created_at` and `createdAt` are one name. */
export const toPlainName = (name: string) => name.toLowerCase().replace(/[\s_-]+/g, '')

/** Column list → name → the column, or null. All records of a CSV file share one list. */
const columnsByName = new WeakMap<readonly string[], Map<string, string | undefined>>()

function findColumn({ fields, columns }: FileRecord, name: string): string | undefined {
  if (name === '') return undefined
  if (!columns) return fields.has(name) ? name : undefined
  let known = columnsByName.get(columns)
  if (!known) {
    known = new Map()
    columnsByName.set(columns, known)
  }
  if (known.has(name)) return known.get(name)
  const column = columns.includes(name)
    ? name
    : columns.find((written) => toPlainName(written) === toPlainName(name))
  known.set(name, column)
  return column
}

/** Finds names in a list of columns, as a `FieldReader` does. */
export function createColumnLookup(columns: string[]): (...names: string[]) => boolean {
  const plain = new Set(columns.map(toPlainName))
  return (...names) => names.some((name) => plain.has(toPlainName(name)))
}
