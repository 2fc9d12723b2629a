import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { CsvReader, type RecordReader } from './csv-reader.ts'
import { JsonReader } from './json-reader.ts'
import { openSourceFile } from './open-source-file.ts'
import { SqlReader } from './sql-reader.ts'

const COMMA = { delimiter: ',', lineEnd: '\n' } as const
const MEGABYTE = 'x'.repeat(1024 * 1024 - 100)
const INSERT = 'INSERT INTO url (a, b, c) VALUES '
const ROWS = 20_000
const EQUAL_NAMES = Array.from({ length: 1_000 }, () => 'a'.repeat(4_000)).join()
const MANY_NAMES = Array.from({ length: 1_000 }, (_, index) => `c${index}`).join()
const LONG_ROWS = Array.from({ length: 5 }, () => `('a','b','${MEGABYTE}')`).join()

function read(reader: RecordReader, text: string, piece: number): number {
  for (let start = 0; start < text.length; start += piece) reader.write(text.slice(start, start + piece))
  reader.end()
  return reader.records.length
}

// Each takes milliseconds. With work that grows with the square of the text, it takes minutes.
test.each<[string, RecordReader, string, number, number]>([
  ['a row in pieces: CSV', new CsvReader(COMMA), `a,b\n1,"${MEGABYTE}"\n`, 16, 1],
  ['a row in pieces: JSON', new JsonReader(null), `[{"a":"${MEGABYTE}"}]`, 16, 1],
  ['a row in pieces: SQL', new SqlReader(() => true), `${INSERT}(1,'${MEGABYTE}',2);`, 16, 1],
  ['a key in pieces: JSON', new JsonReader(() => true), `{"${MEGABYTE}":[]}`, 16, 0],
  [
    'texts without a backslash: SQL',
    new SqlReader(() => true),
    `${INSERT}${"('a','b','c'),".repeat(ROWS - 5)}${LONG_ROWS};`,
    1e9,
    ROWS,
  ],
  [
    'escapes: SQL',
    new SqlReader(() => true),
    `${INSERT}('${'\\n'.repeat(500_000)}','${"''".repeat(500_000)}',1);`,
    1e9,
    1,
  ],
  ['1,000 equal names of columns: CSV', new CsvReader(COMMA), `${EQUAL_NAMES}\n`, 1e9, 0],
  [
    'quotes inside cells: CSV',
    new CsvReader(COMMA),
    `a,b\n${'b"\n'.repeat(200_000)}${MEGABYTE}\n${MEGABYTE}\n`,
    1e9,
    200_002,
  ],
  [
    'rows without most cells: CSV',
    new CsvReader(COMMA),
    `${MANY_NAMES}\n${'a\n'.repeat(300_000)}`,
    1e9,
    300_000,
  ],
  [
    'rows without most values: SQL',
    new SqlReader(() => true),
    `INSERT INTO url (${MANY_NAMES}) VALUES ${'(1),'.repeat(100_000)}(1);`,
    1e9,
    100_001,
  ],
  ['rows without quotes: CSV', new CsvReader(COMMA), `a,b\n${'1,2\n'.repeat(ROWS)}`, 1e9, ROWS],
  [
    'backslashes: JSON',
    new JsonReader(null),
    `[{"a":"${'\\\\'.repeat(200_000)}\\"${'\\\\'.repeat(200_000)}"}]`,
    1e9,
    1,
  ],
])('the time to read grows with the text: %s', async (_, reader, text, piece, records) => {
  let count = 0
  const time = await measureProcessorMs(() => {
    count = read(reader, text, piece)
  })
  expect(count).toBe(records)
  expect(time).toBeLessThan(1_500)
})

test('the time to recognize an SQL dump grows with the comments that it begins with', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'towpath-dump-'))
  const path = join(folder, 'file')
  const write = (end: string) => writeFileSync(path, `${'/* comment */ -- comment\n'.repeat(10_000)}${end}`)
  try {
    // Each of 60 comments doubled the time: a file of 240 KB took longer than anybody waited.
    const time = await measureProcessorMs(async () => {
      write('SELECT 1; CREATE TABLE url (a int);')
      expect((await openSourceFile(path, null)).format).toBe('csv')
      write('/* that nobody closes CREATE TABLE url (a int);')
      expect((await openSourceFile(path, null)).format).toBe('csv')
      write('CREATE TABLE url (a int);')
      expect((await openSourceFile(path, null)).format).toBe('sql')
    })
    expect(time).toBeLessThan(1_500)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
