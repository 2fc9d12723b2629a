import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { CsvReader } from './csv-reader.ts'
import { recognizeCsvLayout } from './open-source-file.ts'
import type { CsvLayout } from './source-file.ts'

const COMMA: CsvLayout = { delimiter: ',', lineEnd: '\n' }

function read(text: string, layout: CsvLayout = COMMA, cuts: number[] = []) {
  const reader = new CsvReader(layout)
  let start = 0
  for (const cut of [...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]) {
    reader.write(text.slice(start, cut))
    start = cut
  }
  reader.end()
  return {
    columns: reader.columns,
    rows: reader.records.map(({ fields }) => [...fields.values()] as string[]),
    records: reader.records,
  }
}

const toCell = (text: string, delimiter: string) =>
  text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

const someCell = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'ü', '"', ',', ';', '\t', '\n', '\r', ' ', '=', '😀') }),
  fc.constantFrom('https://example.com/?a=1,2', '=HYPERLINK("x")', ' spaced '),
)
const someTable = fc
  .integer({ min: 2, max: 5 })
  .chain((width) => fc.array(fc.array(someCell, { minLength: width, maxLength: width }), { maxLength: 6 }))

describe('a CSV file', () => {
  test('reads back as it was written, with every delimiter and line end, in pieces of any size', () => {
    fc.assert(
      fc.property(
        someTable,
        fc.constantFrom(',', ';', '\t', '|'),
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.nat()),
        fc.boolean(),
        (rows, delimiter, lineEnd, cuts, endsWithLine) => {
          const header = (rows[0] ?? ['', '']).map((_, index) => `c${index}`)
          const lines = [header, ...rows].map((row) =>
            row.map((cell) => toCell(cell, delimiter)).join(delimiter),
          )
          const text = lines.join(lineEnd) + (endsWithLine ? lineEnd : '')
          const full = rows.filter((row) => row.some((cell) => cell.trim() !== ''))
          expect(read(text, { delimiter, lineEnd: '\n' }, cuts).rows).toEqual(full)
        },
      ),
      { numRuns: atScale({ full: 500, soak: 20_000 }) },
    )
  })

  test('has blank lines of delimiters, quotes and spaces, which no reader takes for a row', () => {
    const { columns, rows, records } = read(
      ',,\n;\n\na,b,c\n1,2,3\n,,\n , ,\t\n"","",\n,,,,,,\n,\n4,5,6\n,,',
      COMMA,
    )
    expect([columns, rows]).toEqual([[';'], [['a'], ['1'], ['4']]])
    expect(records.map(({ row }) => row)).toEqual([4, 5, 11])
  })

  test('reads as csv-parse reads it', () => {
    const someText = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', 'b'), maxLength: 30 })
    fc.assert(
      fc.property(someText, fc.array(fc.nat()), (text, cuts) => {
        let expected: string[][]
        try {
          expected = parse(`h1,h2\n${text}`, { relax_column_count: true, record_delimiter: ['\r\n', '\n'] })
        } catch {
          // csv-parse refuses a quote in the middle of a cell. Spreadsheets and this reader take it as it is.
          return
        }
        const blankless = expected.slice(1).filter((row) => row.some((cell) => cell.trim() !== ''))
        const { records } = read(`h1,h2\n${text}`, COMMA, cuts)
        expect(records.filter(({ problem }) => !problem).map(({ fields }) => [...fields.values()])).toEqual(
          blankless
            .filter(
              (row) =>
                row.length === 2 || (row.length > 2 && row.slice(2).every((cell) => cell.trim() === '')),
            )
            .map((row) => row.slice(0, 2)),
        )
      }),
      { numRuns: atScale({ full: 1_000, soak: 50_000 }) },
    )
  })

  test('counts rows as a spreadsheet does: the header is 1, blank rows and breaks in cells included', () => {
    const { records } = read('a,b\n1,"two\nlines"\n\n3,4\n')
    expect(records.map(({ row }) => row)).toEqual([2, 4])
  })

  test('names each row that is too long or too short', () => {
    const { records } = read('a,b\n1\n1,2\n1,2,3\n1,2,,\n')
    expect(records.map(({ row, problem }) => [row, problem?.message])).toEqual([
      [2, 'The row has 1 cells, and the header 2. Add the cells that are missing.'],
      [3, undefined],
      [4, 'The row has 3 cells, and the header 2. Quote the cell that has a comma in it.'],
      [5, undefined],
    ])
  })

  test('gives every column a name of its own', () => {
    expect(read('Title,,Title,Title (2),\n1,2,3,4,5').columns).toEqual([
      'Title',
      'Column 2',
      'Title (3)',
      'Title (2)',
      'Column 5',
    ])
  })

  test.each([
    ['a,b\n1,"open', 'The file ends inside a quoted cell of row 2. Is it complete?'],
    ['a,b\n1,"x"y\n', 'Row 2, cell 2: text follows the closing quote. Write a quote inside a cell twice.'],
    ['a,b\n1,\0\n', 'Row 2 has a NUL character. Remove it, or save the file as text.'],
    [`a,b\n1,${'x'.repeat(1024 * 1024 + 1)}\n`, 'Row 2, cell 2 is longer than 1 MiB.'],
    [
      `a,b\n1,"${'x'.repeat(5 * 1024 * 1024)}`,
      'Row 2 is longer than 4 MiB. An unclosed quote may be the cause.',
    ],
    [`${'a,'.repeat(2000)}\n`, 'Row 1 has more than 1000 columns. Is this a CSV file?'],
    [`${'"a",'.repeat(2000)}\n`, 'Row 1 has more than 1000 columns. Is this a CSV file?'],
  ])('is refused: %#', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  test.each([
    ['a,b\n"1;2",3\n', ',', '\n'],
    ['a;b;c\n1,5;2;3\n', ';', '\n'],
    ['a\tb\n1\t2,3\n', '\t', '\n'],
    ['a|b\n1|2\n', '|', '\n'],
    ['a,b\r1,2\r', ',', '\r'],
    ['sep=;\na,x;b\n1;2\n', ';', '\n'],
    ['url\nhttps://example.com/?a=1;b\n', ',', '\n'],
    ['name;url\r\n"a, b; ""c""";https://example.com\r\n', ';', '\n'],
  ] as const)('has its layout recognized: %j', (text, delimiter, lineEnd) => {
    expect(recognizeCsvLayout(text)).toEqual({ delimiter, lineEnd })
  })

  test('may begin with the line that Excel writes', () => {
    const { columns, records } = read('sep=;\na;b\n1;2\n', { delimiter: ';', lineEnd: '\n' })
    expect([columns, records[0]?.row]).toEqual([['a', 'b'], 3])
  })
})
