// Reads CSV (RFC 4180) in pieces: text in, records out.

import { type CsvLayout, FileProblem, type FileRecord } from './source-file.ts'

const COLUMNS_MAX = 1_000
const FIELD_CHARS_MAX = 1024 * 1024
/** A longer row has an unclosed quote. */
const ROW_CHARS_MAX = 4 * FIELD_CHARS_MAX

/** The interface of the readers of all formats. */
export interface RecordReader {
  /** The number of the current row. */
  readonly row: number
  /** Appends complete records to `records`. @throws FileProblem */
  write(text: string): void
  /** Reads all complete rows, so that `row` is the row at the end of the text. @throws FileProblem */
  settle(): void
  /** @throws FileProblem if the file is truncated */
  end(): void
  readonly records: FileRecord[]
}

export class CsvReader implements RecordReader {
  readonly records: FileRecord[] = []
  /** Null before the header. */
  columns: string[] | null = null
  row = 1
  #text = ''
  #pieces: string[] = []
  #waiting = 0
  readonly #layout: CsvLayout

  constructor(layout: CsvLayout) {
    this.#layout = layout
  }

  write(text: string): void {
    const nul = text.indexOf('\0')
    this.#pieces.push(nul < 0 ? text : text.slice(0, nul))
    this.#waiting += text.length
    // An incomplete row is parsed again only when its length has doubled.
    if (this.#waiting >= this.#text.length || nul >= 0) this.#parse(false)
    if (nul >= 0)
      throw new FileProblem(`Row ${this.row} has a NUL character. Remove it, or save the file as text.`)
    if (this.#text.length > ROW_CHARS_MAX) throw this.#tooLong()
  }

  settle(): void {
    this.#parse(false)
  }

  end(): void {
    this.#parse(true)
  }

  #tooLong(): FileProblem {
    return new FileProblem(`Row ${this.row} is longer than 4 MiB. An unclosed quote may be the cause.`)
  }

  #parse(isEnd: boolean): void {
    const text = this.#text + this.#pieces.join('')
    this.#pieces = []
    this.#waiting = 0
    const { lineEnd, delimiter } = this.#layout
    const finders = {
      quote: createFinder(text, '"'),
      row: createFinder(text, lineEnd),
      cell: createFinder(text, delimiter),
    }
    let start = 0
    while (start < text.length) {
      const end = finders.row(start)
      const quote = finders.quote(start)
      if (quote > end || (quote === text.length && end === text.length)) {
        if (end === text.length && !isEnd) break
        this.#add(trimReturn(text.slice(start, end)).split(delimiter))
        start = end + 1
        continue
      }
      const next = this.#parseQuoted(text, start, isEnd, finders)
      if (next < 0) break
      start = next
    }
    this.#text = text.slice(start)
  }

  /** Parses a row with quotes. @returns the beginning of the next row; -1 if the row is not complete yet */
  #parseQuoted(text: string, start: number, isEnd: boolean, finders: Finders): number {
    const { lineEnd, delimiter } = this.#layout
    const cells: string[] = []
    let at = start
    for (;;) {
      let cell: string
      if (text[at] === '"') {
        const close = findClosingQuote(text, at)
        if (close < 0) {
          if (!isEnd) return -1
          throw new FileProblem(`The file ends inside a quoted cell of row ${this.row}. Is it complete?`)
        }
        if (close + 1 >= text.length && !isEnd) return -1
        cell = text.slice(at + 1, close)
        if (cell.includes('"')) cell = cell.replaceAll('""', '"')
        at = close + 1
        if (text[at] === '\r' && lineEnd === '\n') {
          if (at + 1 >= text.length && !isEnd) return -1
          if (at + 1 >= text.length || text[at + 1] === '\n') at++
        }
      } else {
        const rowEnd = finders.row(at)
        const end = Math.min(finders.cell(at), rowEnd)
        if (end === text.length && !isEnd) return -1
        cell = end === rowEnd ? trimReturn(text.slice(at, end)) : text.slice(at, end)
        at = end
      }
      cells.push(cell)
      if (at >= text.length || text[at] === lineEnd) {
        this.#add(cells)
        return at + 1
      }
      if (text[at] !== delimiter) {
        const place = `Row ${this.row}, cell ${cells.length}`
        throw new FileProblem(`${place}: text follows the closing quote. Write a quote inside a cell twice.`)
      }
      at++
      if (cells.length > COLUMNS_MAX) throw this.#tooMany()
    }
  }

  #add(cells: string[]): void {
    const row = this.row
    if (cells.length > COLUMNS_MAX) throw this.#tooMany()
    // Spreadsheets write a row of delimiters for an empty line.
    if (cells.every(isBlank)) {
      this.row++
      return
    }
    const long = cells.findIndex((cell) => cell.length > FIELD_CHARS_MAX)
    if (long >= 0) throw new FileProblem(`Row ${row}, cell ${long + 1} is longer than 1 MiB.`)
    if (!this.columns) {
      // Excel writes the delimiter into a line before the header.
      if (!(row === 1 && cells.join(this.#layout.delimiter).startsWith('sep=')))
        this.columns = nameColumns(cells)
    } else this.records.push(toRecord(row, this.columns, cells))
    this.row++
  }

  #tooMany(): FileProblem {
    return new FileProblem(`Row ${this.row} has more than ${COLUMNS_MAX} columns. Is this a CSV file?`)
  }
}

/** Finds the next occurrence from a position; the end of the text if there is none. */
type Finder = (from: number) => number
type Finders = Record<'quote' | 'row' | 'cell', Finder>

/** For positions in ascending order: it searches each part of the text once. */
function createFinder(text: string, what: string): Finder {
  let found = -1
  return (from) => {
    if (found >= from) return found
    const at = text.indexOf(what, from)
    found = at < 0 ? text.length : at
    return found
  }
}

const trimReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line)

const isBlank = (cell: string) => cell.length < 100 && cell.trim() === ''

function findClosingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return -1
}

function toRecord(row: number, columns: string[], cells: string[]): FileRecord {
  const fields = new Map<string, string>()
  // Missing cells are left out. Otherwise, in a file of 1,000 columns, a row of two bytes would take as long as a thousand.
  const count = Math.min(columns.length, cells.length)
  for (let index = 0; index < count; index++) fields.set(columns[index] as string, cells[index] as string)
  const record: FileRecord = { row, table: null, fields, columns }
  const hasTooMany =
    cells.length > columns.length && cells.slice(columns.length).some((cell) => !isBlank(cell))
  if (hasTooMany || cells.length < columns.length) {
    const message = `The row has ${cells.length} cells, and the header ${columns.length}. ${
      hasTooMany ? 'Quote the cell that has a comma in it.' : 'Add the cells that are missing.'
    }`
    record.problem = { field: 'row', value: cells.join(', ').slice(0, 200), message }
  }
  return record
}

/** Names of columns as written. An empty name becomes "Column 3", a repeated one "Title (2)". */
export function nameColumns(cells: string[]): string[] {
  const written = new Set(cells.map((cell) => cell.trim()))
  const names = new Set<string>()
  /** Name → its last number. */
  const counts = new Map<string, number>()
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim() || `Column ${index + 1}`
    let unique = name
    let count = counts.get(name) ?? 1
    while (names.has(unique) || (unique !== name && written.has(unique))) unique = `${name} (${++count})`
    counts.set(name, count)
    names.add(unique)
  }
  // The last cells of a header can be empty, for columns without content.
  return [...names]
}
