// Detects the format of an uploaded file: its compression, its encoding, its format, its columns.

import { open, stat } from 'node:fs/promises'
import { invalid } from '../../../lib/failure.ts'
import { CsvReader } from './csv-reader.ts'
import { createDecoding, InvalidByte, recognizeEncoding } from './encoding.ts'
import { JsonReader, toElements } from './json-reader.ts'
import { readFileBytes } from './read-file-bytes.ts'
import {
  type CsvLayout,
  type FileEncoding,
  type FileFormat,
  FileProblem,
  type FileRecord,
  type FileTable,
  type SourceFile,
} from './source-file.ts'
import { SqlReader } from './sql-reader.ts'

/** The inspected beginning of a file. It is long, because an SQL dump can have other tables first. */
const HEAD_BYTES = 4 * 1024 * 1024

/** The number of inspected records. An export can have other lists before its links. */
const RECORDS_LOOKED_AT = 1_000
const PIECE_CHARS = 64 * 1024
const LISTS_DEPTH = 3
const TABLES_MAX = 100
const COLUMNS_MAX = 1_000

interface Head {
  bytes: Buffer
  isWhole: boolean
}

/** @param name the name of the file on the person's computer @throws FileProblem for an unreadable file */
export async function openSourceFile(path: string, name: string | null): Promise<SourceFile> {
  const { size } = await stat(path)
  if (size === 0) throw new FileProblem('The file is empty.')
  const start = await readStart(path)
  const file = { path, name, bytes: size }
  const none = { encoding: 'utf-8' as const, layout: null, columns: [], tables: [] }
  if (hasSignature(start, 0x50, 0x4b, 0x03, 0x04) || hasSignature(start, 0x50, 0x4b, 0x05, 0x06)) {
    refuseOffice(start)
    return { ...file, ...none, gzipped: false, format: 'zip' }
  }
  const gzipped = hasSignature(start, 0x1f, 0x8b)
  const head = await readHead(path, gzipped)
  if (head.bytes.length === 0) throw new FileProblem('The file is empty.')
  refuseBinary(head.bytes)
  const encoding = recognizeEncoding(head.bytes, head.isWhole)
  const text = decodeHead(head, encoding)
  if (text.trim() === '') throw new FileProblem('The file is empty.')
  const format = recognizeFormat(text)
  return { ...file, gzipped, encoding, format, ...describe(format, text, head.isWhole) }
}

async function readStart(path: string): Promise<Buffer> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

const hasSignature = (bytes: Uint8Array, ...signature: number[]) =>
  signature.every((byte, index) => bytes[index] === byte)

function refuseOffice(start: Buffer): void {
  const names = start.toString('latin1')
  if (names.includes('[Content_Types].xml') || names.includes('mimetypeapplication/vnd.oasis'))
    throw new FileProblem('This is a spreadsheet. Save it as CSV (UTF-8), and import that.')
}

const SQLITE = 'a SQLite database'

/** Signatures of files that people upload by mistake. */
const BINARIES: [string, number[]][] = [
  ['an Excel workbook', [0xd0, 0xcf, 0x11, 0xe0]],
  ['a PDF', [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ['a picture', [0x89, 0x50, 0x4e, 0x47]],
  [SQLITE, [...Buffer.from('SQLite format 3\0')]],
  ['a zstd file', [0x28, 0xb5, 0x2f, 0xfd]],
  ['an xz file', [0xfd, 0x37, 0x7a, 0x58]],
  ['a 7-Zip file', [0x37, 0x7a, 0xbc, 0xaf]],
  ['a packed file', [0x1f, 0x8b]],
]

function refuseBinary(bytes: Buffer): void {
  const binary = BINARIES.find(([, signature]) => hasSignature(bytes, ...signature))
  if (binary?.[0] === SQLITE)
    throw new FileProblem(
      'This is a SQLite database. Write it as SQL: sqlite3 <file> .dump, and import that.',
    )
  if (binary)
    throw new FileProblem(`This is ${binary[0]}. An import reads CSV, JSON, SQL dumps and zip files.`)
}

async function readHead(path: string, gzipped: boolean): Promise<Head> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of readFileBytes(path, gzipped)) {
    if (length >= HEAD_BYTES) return { bytes: Buffer.concat(pieces), isWhole: false }
    pieces.push(piece)
    length += piece.length
  }
  return { bytes: Buffer.concat(pieces), isWhole: true }
}

/** The text of the head up to the first invalid byte, which the reader of the records reports. */
function decodeHead({ bytes }: Head, encoding: FileEncoding): string {
  const decoding = createDecoding(encoding)
  try {
    return decoding.decode(bytes)
  } catch (error) {
    if (error instanceof InvalidByte) return decoding.beforeError()
    throw error
  }
}

const SQL_BLANK = /\s+|--[^\n]*\n|#[^\n]*\n|\/\*[\s\S]*?\*\/;?/y
const SQL_START = /(?:PRAGMA|CREATE|INSERT|REPLACE|DROP|SET|USE|LOCK|START|BEGIN|ALTER)\b/iy

/** Skips one blank or comment after the other: a single pattern for all of them would take exponential time. */
function startsAsSql(text: string, start = SQL_START): boolean {
  let at = 0
  for (;;) {
    SQL_BLANK.lastIndex = at
    if (!SQL_BLANK.test(text)) break
    at = SQL_BLANK.lastIndex
  }
  start.lastIndex = at
  return start.test(text)
}

/** The first statement of an SQLite dump, which MySQL does not know. */
const SQLITE_START = /(?:PRAGMA|BEGIN\s+TRANSACTION)\b/iy
/** Text before the first row that only dumps of MySQL have. */
const OF_MYSQL = /`|\/\*!|\b(?:ENGINE|AUTO_INCREMENT|MySQL|MariaDB|phpMyAdmin)\b/i
const OF_OTHERS = /["[]|\b(?:AUTOINCREMENT|main\.|public\.)/i

function isSqliteDump(text: string): boolean {
  if (startsAsSql(text, SQLITE_START)) return true
  const [head = ''] = text.split(/\bVALUES\b/i, 1)
  return OF_OTHERS.test(head) && !OF_MYSQL.test(head)
}

function recognizeFormat(text: string): FileFormat {
  const start = text.trimStart()
  if (start.startsWith('{') || start.startsWith('[')) return 'json'
  if (/^<(?:!doctype|html|\?xml)/i.test(start))
    throw new FileProblem('This is a web page or XML. Export CSV or JSON, and import that.')
  if (startsAsSql(start) && /\b(?:CREATE\s+TABLE|INSERT\s|REPLACE\s)/i.test(start)) return 'sql'
  return 'csv'
}

function describe(
  format: FileFormat,
  text: string,
  isWhole: boolean,
): Pick<SourceFile, 'columns' | 'tables' | 'layout' | 'isSqlite'> {
  if (format === 'csv') {
    const layout = recognizeCsvLayout(text)
    const reader = new CsvReader(layout)
    reader.write(text.slice(0, 1024 * 1024))
    if (!reader.columns && isWhole) reader.end()
    const columns = reader.columns ?? []
    return { layout, columns, tables: [{ name: null, columns }] }
  }
  const isSqlite = format === 'sql' && isSqliteDump(text)
  const tables = format === 'json' ? describeJson(text, isWhole) : describeSql(text, isSqlite)
  return { layout: null, isSqlite, columns: tables[0]?.columns ?? [], tables }
}

const DELIMITERS = [',', ';', '\t', '|'] as const
const SAMPLE_CHARS = 64 * 1024

/** Chooses the delimiter with the most columns and the most rows of the same number of columns. In a tie, the comma wins. */
export function recognizeCsvLayout(text: string): CsvLayout {
  const sample = text.slice(0, SAMPLE_CHARS)
  // Files of old Macs end rows with only a carriage return.
  const lineEnd = !sample.includes('\n') && sample.includes('\r') ? '\r' : '\n'
  const said = /^sep=([,;\t|])\r?[\n\r]/.exec(sample)?.[1] as CsvLayout['delimiter'] | undefined
  if (said) return { delimiter: said, lineEnd }
  let best: CsvLayout = { delimiter: ',', lineEnd }
  let bestScore = 0
  for (const delimiter of DELIMITERS) {
    const score = scoreDelimiter({ delimiter, lineEnd }, sample)
    if (score > bestScore) {
      best = { delimiter, lineEnd }
      bestScore = score
    }
  }
  return best
}

/** Reads a whole CSV text. @throws Failure `invalid` at the field `csv` */
export function readCsvText(text: string): { columns: string[]; records: FileRecord[] } {
  const plain = text.replace(/^\ufeff/, '')
  const reader = new CsvReader(recognizeCsvLayout(plain))
  try {
    reader.write(plain)
    reader.end()
  } catch (error) {
    throw error instanceof FileProblem ? invalid({ csv: error.message }) : error
  }
  return { columns: reader.columns ?? [], records: reader.records }
}

function scoreDelimiter(layout: CsvLayout, sample: string): number {
  const reader = new CsvReader(layout)
  try {
    reader.write(sample)
    reader.write(layout.lineEnd)
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error
    // With this delimiter the quotes are invalid.
  }
  const columns = reader.columns?.length ?? 0
  if (columns < 2) return 0
  const { records } = reader
  const fitting = records.filter(({ problem }) => !problem).length
  return columns * ((fitting + 1) / (records.length + 1))
}

/** The table with the most columns comes first: the links, not their tags or the pages around them. */
function describeJson(text: string, isWhole: boolean): FileTable[] {
  const reader = new JsonReader(null)
  let start = 0
  for (; start < text.length && reader.records.length < RECORDS_LOOKED_AT; start += PIECE_CHARS)
    reader.write(text.slice(start, start + PIECE_CHARS))
  if (isWhole && start >= text.length) reader.end()
  const tables = new Map<string | null, Set<string>>()
  for (const { fields } of reader.records) noteLists(tables, null, fields, LISTS_DEPTH)
  return Array.from(tables, ([name, columns]) => ({ name, columns: [...columns] })).sort(
    (a, b) => b.columns.length - a.columns.length,
  )
}

/** Notes the columns of an object, and of the first object of each list in it. @param name undefined for a part of a record */
function noteLists(
  tables: Map<string | null, Set<string>>,
  name: string | null | undefined,
  fields: ReadonlyMap<string, unknown>,
  depth: number,
): void {
  if (name !== undefined && (tables.has(name) || tables.size < TABLES_MAX)) {
    const columns = tables.get(name) ?? new Set()
    tables.set(name, columns)
    // JSON leaves out empty fields, so other objects can have more.
    for (const key of fields.keys()) if (columns.size < COLUMNS_MAX) columns.add(key)
  }
  if (depth === 0) return
  for (const [key, value] of fields) {
    const elements = toElements(value)
    const [first] = elements ?? [value]
    if (typeof first !== 'object' || first === null || Array.isArray(first)) continue
    noteLists(tables, elements ? key : undefined, new Map(Object.entries(first)), depth - 1)
  }
}

function describeSql(text: string, isSqlite: boolean): FileTable[] {
  const reader = new SqlReader(() => false, isSqlite)
  reader.write(text)
  return [...reader.tables.values()]
}
