// The shape of an uploaded file for all sources: a sequence of records, for any format and encoding.

export type FileFormat = 'csv' | 'json' | 'sql' | 'zip'
export type FileEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** An uploaded file whose format and encoding are known. */
export interface SourceFile {
  path: string
  /** The name on the person's computer. */
  name: string | null
  bytes: number
  /** True if the file is compressed with gzip: then its content is read. */
  gzipped: boolean
  format: FileFormat
  encoding: FileEncoding
  /** The delimiter and the line ending of a CSV file. */
  layout: CsvLayout | null
  /** True for a dump of SQLite, in which a backslash is an ordinary character. */
  isSqlite?: boolean
  /** The header of a CSV file, as it is written; the keys of the first record of other files. */
  columns: string[]
  /** The tables of an SQL dump and the lists of a JSON file, in its first megabytes. */
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
   * By column name, as written. Values of CSV and SQL are texts or null; those of JSON have any type. Texts share the
   * memory of their piece of the file: copy a text before you keep it.
   */
  fields: ReadonlyMap<string, unknown>
  /** The column names of a CSV file or an SQL table: the same list for all its records. Absent in JSON. */
  columns?: readonly string[]
  /** The problem of a broken row, for example one with more cells than the header. Its fields are invalid. */
  problem?: FieldProblem
}

/** The place of a source's records in a file with several lists. */
export interface RecordPlace {
  /** Keys of JSON objects that can have the list, such as `links`. A list at the top of the file is always found. */
  lists: string[]
  /** Ends of table names in an SQL dump, such as `url` for `yourls_url`. */
  tables: string[]
}

/** A problem with one field of a row. `message` says what to do. */
export interface FieldProblem {
  field: string
  /** The value in the file, cut to 200 characters; null without a value. */
  value: string | null
  message: string
}

/** A problem with a whole file, as a sentence. No row of it is imported. */
export class FileProblem extends Error {}
