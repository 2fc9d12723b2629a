import { expect, test } from 'bun:test'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { CsvReader, type RecordReader } from './csv-reader.ts'
import { JsonReader } from './json-reader.ts'
import { SqlReader } from './sql-reader.ts'

const COMMA = { delimiter: ',', lineEnd: '\n' } as const
const MEGABYTE = 'x'.repeat(1024 * 1024 - 100)
const INSERT = 'INSERT INTO url (a, b, c) VALUES '
const ROWS = 20_000

function read(reader: RecordReader, text: string, piece: number): number {
  for (let start = 0; start < text.length; start += piece) reader.write(text.slice(start, start + piece))
  reader.end()
  return reader.records.length
}

// Each takes milliseconds. With work that grows with the square of the text, it takes minutes.
test.each<[string, RecordReader, string, number, number]>([
  ['a row in pieces: CSV', new CsvReader(COMMA), `a,b\n1,"${MEGABYTE}"\n`, 64, 1],
  ['a row in pieces: JSON', new JsonReader(null), `[{"a":"${MEGABYTE}"}]`, 64, 1],
  ['a row in pieces: SQL', new SqlReader(() => true), `${INSERT}(1,'${MEGABYTE}',2);`, 64, 1],
  ['a key in pieces: JSON', new JsonReader(() => true), `{"${MEGABYTE}":[]}`, 64, 0],
  [
    'texts without a backslash: SQL',
    new SqlReader(() => true),
    `${INSERT}${"('a','b','c'),".repeat(ROWS)}('a','b','c');`,
    1e9,
    ROWS + 1,
  ],
  [
    'escapes: SQL',
    new SqlReader(() => true),
    `${INSERT}('${'\\n'.repeat(500_000)}','${"''".repeat(500_000)}',1);`,
    1e9,
    1,
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
  expect(time).toBeLessThan(2_000)
})
