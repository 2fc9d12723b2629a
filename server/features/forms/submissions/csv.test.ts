import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { toCsvLine } from '../../../lib/formats/csv-line.ts'
import { type CsvColumns, FIELD_COLUMNS_MAX, toCells, toCsvColumns, toCsvHeader } from './csv.ts'
import type { SubmissionResource } from './schema.ts'
import { toSubmissionResource } from './submission.ts'

const BARE = {
  id: 7,
  form_key: 'k7m2xw9qpd',
  status: 'new',
  attribution: 'none',
  session_linked: 0,
  attribution_due: 0,
  created_at: 0,
  outcomes: [],
}

function submission(fields: [string, string][], own: Partial<SubmissionResource> = {}): SubmissionResource {
  const row = new Proxy({ ...BARE, fields: JSON.stringify(fields) } as never, {
    get: (known, name) => Reflect.get(known, name) ?? null,
  })
  return { ...toSubmissionResource({ origin: 'https://go.example' }, row), ...own }
}

/** A strict reader of RFC 4180. */
function parse(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? (plain as string) : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

const toCsvRow = (columns: CsvColumns, of: SubmissionResource) =>
  toCsvLine(toCells(columns, of, (iso) => iso) ?? [])

function written(submissions: SubmissionResource[]) {
  const columns = toCsvColumns(new Set(submissions.flatMap(({ fields }) => [...fields.keys()])))
  const text = toCsvHeader(columns) + submissions.map((each) => toCsvRow(columns, each)).join('')
  const [headers = [], ...rows] = parse(text)
  return { text, headers, rows, cell: (row: number, name: string) => rows[row]?.[headers.indexOf(name)] }
}

describe('submissions as CSV', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['+49 170', '+49 170'],
    ['+1 (555) 123-4567 ext. 89', '+1 (555) 123-4567 ext. 89'],
    ['+49/30/1234.56', '+49/30/1234.56'],
    [' +49170123456 ', ' +49170123456 '],
    ['-1', '-1'],
    ['-1.234,56', '-1.234,56'],
    ['+1e-3', '+1e-3'],
    ['-5%', '-5%'],
    ['-1-1', "'-1-1"],
    ['+1+1', "'+1+1"],
    ['+1-1', "'+1-1"],
    ["-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"],
    ['+1-800-FLOWERS', "'+1-800-FLOWERS"],
    ['+49 170 1234567;=1', "'+49 170 1234567;=1"],
    ['note\n+49 170 1234567', "note\n'+49 170 1234567"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', "'\r'=1"],
    ['\n=1', "\n'=1"],
    ['\r\n\r\n=1', "'\r\n\r\n'=1"],
    ['hi\n=1+1\n@x', "hi\n'=1+1\n'@x"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ['\u00a0\u3000=1', "'\u00a0\u3000=1"],
    ['\u200b\ufeff\u202e=1', "'\u200b\ufeff\u202e=1"],
    ['"=1', `'"=1`],
    [' "\t ＝1', `' "\t ＝1`],
    ["'=1", "'=1"],
    ['a=1', 'a=1'],
    [' =1', "' =1"],
    ['a -1\nb', 'a -1\nb'],
    ['say "hi", twice\r\nor more', 'say "hi", twice\r\nor more'],
    ['', ''],
    ['0012', '0012'],
  ])('write %p as %p, in a cell and in a header', (value, cell) => {
    const { headers, rows } = written([
      submission([['message', value], ...(value ? [[value, 'x'] as [string, string]] : [])]),
    ])
    expect(rows[0]?.[3]).toBe(cell)
    if (value) expect(headers[4]).toBe(cell)
    expect(rows[0]).toHaveLength(headers.length)
  })

  test('escape formulas in notes and in the source columns too', () => {
    const { cell } = written([submission([], { notes: '=1', utmSource: '@x', referrer: '-a.example' })])
    expect([cell(0, 'notes'), cell(0, 'utmSource'), cell(0, 'referrer')]).toEqual([
      "'=1",
      "'@x",
      "'-a.example",
    ])
  })

  test('keep the headers of our columns, whatever name a field has', () => {
    const fields: [string, string][] = [
      ['id', 'forged'],
      ['fields.id', 'other'],
      ['status', 'paid'],
      ['email', 'a@b.co'],
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]
    const { headers, cell } = written([submission(fields, { email: 'a@b.co' })])
    expect(new Set(headers).size).toBe(headers.length)
    expect([cell(0, 'id'), cell(0, 'status'), cell(0, 'email')]).toEqual(['7', 'new', 'a@b.co'])
    // The name that comes first keeps its header.
    expect([cell(0, 'fields.id'), cell(0, 'fields.fields.id')]).toEqual(['other', 'forged'])
    expect([cell(0, 'fields.status'), cell(0, 'fields.email')]).toEqual(['paid', 'a@b.co'])
    expect([cell(0, '__proto__'), cell(0, 'constructor')]).toEqual(['p', 'c'])
  })

  test('give two columns different headers where escaping makes them equal', () => {
    const { headers } = written([
      submission([
        ['=a', '1'],
        ["'=a", '2'],
      ]),
    ])
    expect(headers.slice(3, 5)).toEqual(["'=a", "fields.'=a"])
  })

  test('put fields beyond the column limit into one more column, as JSON', () => {
    const names = Array.from({ length: FIELD_COLUMNS_MAX + 2 }, (_, i) => `f${i}`)
    const columns = toCsvColumns(new Set(names))
    const fields = names.slice(-3).map((name) => [name, `=${name}`] as [string, string])
    const [headers = [], row = []] = parse(toCsvHeader(columns) + toCsvRow(columns, submission(fields)))
    expect(headers).toHaveLength(row.length)
    expect(headers.length).toBeLessThan(16_384)
    expect(JSON.parse(row[headers.indexOf('moreFields')] as string)).toEqual({
      f1000: '=f1000',
      f1001: '=f1001',
    })
  })

  test('have one row with as many cells as headers, for any text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 })
    const odd = fc.oneof(
      text,
      fc.constantFrom('id', 'email', 'moreFields', '"', '\r', '\n', '=', "'", ',', 'fields.id'),
    )
    const sent = fc.uniqueArray(fc.tuple(odd, odd), { selector: ([name]) => name, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(sent, { minLength: 1, maxLength: 4 }), (all) => {
        const { headers, rows } = written(all.map((fields) => submission(fields)))
        expect(new Set(headers).size).toBe(headers.length)
        expect(rows.map((row) => row.length)).toEqual(all.map(() => headers.length))
        for (const cell of [headers, ...rows].flat()) {
          expect(cell).not.toMatch(/^[\t\r]|(^|[\r\n])[\s"]*([=@]|[+-](?! *[(\d]))/)
        }
        const names = [...new Set(all.flat().map(([name]) => name))]
        for (const [i, fields] of all.entries()) {
          const values = new Map(fields)
          const cells = names.map((_, at) => rows[i]?.[3 + at]?.replaceAll("'", ''))
          const wanted = names.map((name) => (values.get(name) ?? '').replaceAll("'", ''))
          expect(cells).toEqual(wanted)
        }
      }),
      { numRuns: 500 },
    )
  })
})
