// Reads a file from start to end as batches of records, in bounded memory.

import { CsvReader, type RecordReader } from './csv-reader.ts'
import { createDecoding, InvalidByte } from './encoding.ts'
import { JsonReader } from './json-reader.ts'
import { readFileBytes } from './read-file-bytes.ts'
import { FileProblem, type FileRecord, type RecordPlace, type SourceFile } from './source-file.ts'
import { SqlReader } from './sql-reader.ts'

const BATCH_RECORDS = 500

/** Batches of up to 500 records, in the order of the file. @throws FileProblem with the row, if the file is broken */
export async function* readRecords(file: SourceFile, place: RecordPlace): AsyncGenerator<FileRecord[]> {
  const reader = createReader(file, place)
  const decoding = createDecoding(file.encoding)
  for await (const piece of readFileBytes(file.path, file.gzipped)) {
    try {
      reader.write(decoding.decode(piece))
    } catch (error) {
      throw error instanceof InvalidByte ? locate(error, reader, decoding.beforeError()) : error
    }
    yield* takeBatches(reader.records)
  }
  try {
    decoding.end()
  } catch (error) {
    throw error instanceof InvalidByte ? locate(error, reader, '') : error
  }
  reader.end()
  yield* takeBatches(reader.records)
}

/** Finds the row of the byte. The rows before it are read first, to count them. */
function locate(error: InvalidByte, reader: RecordReader, before: string): FileProblem {
  reader.write(before)
  reader.settle()
  return new FileProblem(`Row ${reader.row}: ${error.message}`)
}

function* takeBatches(records: FileRecord[]): Generator<FileRecord[]> {
  for (let start = 0; start < records.length; start += BATCH_RECORDS)
    yield records.slice(start, start + BATCH_RECORDS)
  records.length = 0
}

function createReader(file: SourceFile, place: RecordPlace): RecordReader {
  const { lists, tables } = place
  if (file.format === 'csv') {
    if (!file.layout) throw new FileProblem('The file is no CSV.')
    return new CsvReader(file.layout)
  }
  if (file.format === 'json') return new JsonReader((key) => lists.includes(key))
  if (file.format === 'sql')
    return new SqlReader((name) => tables.some((end) => hasTableName(name, end)), file.isSqlite)
  throw new FileProblem('A zip file is imported with the source "towpath".')
}

/** `url` and `yourls_url` are the table `url`; `curl` is not. */
const hasTableName = (name: string, end: string) => name === end || name.endsWith(`_${end}`)
