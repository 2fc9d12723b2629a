// The shape of an uploaded file for all sources: whatever its format and encoding, it is a sequence of records.

export type FileFormat = 'csv' | 'json' | 'sql' | 'zip'
export type FileEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** An uploaded file whose format and encoding are known. */
export interface SourceFile {
  path: string
  /** As the person's computer calls it. */
  name: string | null
  bytes: number
  /** Whether the file is packed with gzip: its content is read. */
  gzipped: boolean
  format: FileFormat
  encoding: FileEncoding
  /** The delimiter and the line ending of a CSV file. */
  layout: CsvLayout | null
  /** A dump of SQLite: a backslash is a character like any other. */
  isSqlite?: boolean
  /** The header of a CSV file, as it is written; the keys of the first record of other files. */
  columns: string[]
  /** The tables of an SQL dump and the lists of a JSON file, as far as its first megabytes show them. */
  tables: FileTable[]
}

export interface CsvLayout {
  delimiter: ',' | ';' | '\t' | '|'
  lineEnd: '\n' | '\r'
}

/** A table of an SQL dump, or a list of a JSON file. A CSV file is one table without a name. */
export interface FileTable {
  name: string | null
  columns: string[]
}

/** One row of a CSV file, one object of a list in JSON, one line of NDJSON, one row of a table in an SQL dump. */
export interface FileRecord {
  /** As a spreadsheet numbers it: the header of a CSV file is row 1. Without a header, the first record is 1. */
  row: number
  /** The table of an SQL dump; null in other formats. */
  table: string | null
  /**
   * By column name, as written. Values of CSV and SQL are texts or null; those of JSON are as they are. Texts share the
   * memory of the piece of the file that they stand in: copy one before you keep it for long.
   */
  fields: ReadonlyMap<string, unknown>
  /** The column names of a CSV file or an SQL table: the same list for all its records. Absent in JSON. */
  columns?: readonly string[]
  /** The row as such is broken, such as one with more cells than the header. Its fields mean nothing. */
  problem?: FieldProblem
}

/** Where the records of a source are in a file that can hold several lists. */
export interface RecordPlace {
  /** Keys of JSON objects that may hold the list, such as `links`. A list at the top of the file is always found. */
  lists: string[]
  /** Ends of table names in an SQL dump, such as `url` for `yourls_url`. */
  tables: string[]
}

/** A problem with one field of a row. `message` says what to do. */
export interface FieldProblem {
  field: string
  /** As the file has it, cut to 200 characters; null where there is none. */
  value: string | null
  message: string
}

/** A problem with a whole file, as a sentence: nothing of it is imported. */
export class FileProblem extends Error {}
