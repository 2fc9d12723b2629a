import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { JsonReader } from './json-reader.ts'

function read(text: string, lists: string[] = ['links'], cuts: number[] = []) {
  const reader = new JsonReader((key) => lists.includes(key))
  let start = 0
  for (const cut of [...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]) {
    reader.write(text.slice(start, cut))
    start = cut
  }
  reader.end()
  return reader.records.map(({ fields }) => Object.fromEntries(fields))
}

const someRecord = fc.dictionary(
  fc
    .oneof(fc.constantFrom('url', 'tags', '__proto__', 'a"b'), fc.string({ maxLength: 5 }))
    .filter((key) => key !== 'links'),
  fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes('"links"')),
  { maxKeys: 5 },
)
const someRecords = fc.array(someRecord, { maxLength: 6 })
const normal = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

describe('a JSON file', () => {
  test('has its records found in every place, in pieces of any size', () => {
    const places: ((records: unknown[], indent?: number) => string)[] = [
      (records, indent) => JSON.stringify(records, null, indent),
      (records, indent) => JSON.stringify({ version: '1', links: records, count: 3 }, null, indent),
      (records, indent) => JSON.stringify({ meta: { page: [1] }, result: { links: records } }, null, indent),
      (records) => records.map((record) => JSON.stringify(record)).join('\r\n'),
      (records, indent) =>
        records.map((record) => JSON.stringify({ links: [record], pagination: {} }, null, indent)).join('\n'),
      (records, indent) =>
        JSON.stringify(
          {
            links: Object.fromEntries(records.map((record, index) => [`link_${index}`, record])),
            message: 'ok',
          },
          null,
          indent,
        ),
      (records, indent) =>
        JSON.stringify(
          records.map((record) => ({ links: [record] })),
          null,
          indent,
        ),
    ]
    fc.assert(
      fc.property(
        someRecords.filter(({ length }) => length > 0),
        fc.constantFrom(...places),
        fc.constantFrom(undefined, 2),
        fc.array(fc.nat()),
        (records, write, indent, cuts) => {
          expect(normal(read(write(records, indent), ['links'], cuts))).toEqual(normal(records))
        },
      ),
      { numRuns: atScale({ full: 500, soak: 20_000 }) },
    )
  })

  test('is refused wherever it is cut off', () => {
    const record = JSON.stringify({ url: 'https://example.com', tags: ['a'], clicks: 1.5 })
    for (const before of ['', `${record}\n`, `[${record},`, `{"count":1}{"links":[${record},`]) {
      const records = before.includes('url') ? 2 : 1
      for (let end = 1; end < record.length; end++)
        expect(() => read(before + record.slice(0, end))).toThrow(
          /^The file ends in the middle of record \d\. Is it complete\?$/,
        )
      if (!before.includes('[')) expect(read(before + record)).toHaveLength(records)
    }
  })

  test('may be larger than a record: the reader goes into it', () => {
    const records = Array.from({ length: 30_000 }, (_, id) => ({
      id,
      url: `https://example.com/${'x'.repeat(50)}`,
    }))
    for (const value of [
      records,
      { count: 1, links: records },
      { a: { b: { links: records } } },
      [{ links: records }],
    ])
      expect(read(JSON.stringify(value))).toEqual(records)
  })

  test('has no record in an empty list', () => {
    for (const text of ['[]', ' {"links":[ ]}\n', '{"links":[]}\n{"links":[]}'])
      expect(read(text)).toEqual([])
  })

  test.each([
    ['[{"a":1},,{"a":2}]', 'The JSON is broken at record 2'],
    ['[{"a":1}{"a":2}]', 'The JSON is broken at record 2'],
    ['[{"a":1},]', 'The JSON is broken at record 2'],
    ["[{'a':1}]", 'The JSON is broken at record 1'],
    ['[{"a":undefined}]', 'The JSON is broken at record 1'],
    ['[1,2]', 'Record 1 is no JSON object.'],
    ['[{"a":1}]]', 'The JSON is broken at record 2'],
    ['   ', 'The file has no JSON in it.'],
    [`[${'['.repeat(100)}`, 'Record 1 is nested deeper than 64 levels.'],
    [`{"a":${'{"a":'.repeat(1_000)}`, 'Record 1 is nested deeper than 64 levels.'],
    [`[{"a":"${'x'.repeat(3 * 1024 * 1024)}`, 'Record 1 is longer than 1 MiB.'],
    [`{"a":"${'x'.repeat(3 * 1024 * 1024)}`, 'Record 1 is longer than 1 MiB.'],
    [`{"${'x'.repeat(3 * 1024 * 1024)}`, 'Record 1 is longer than 1 MiB.'],
  ])('is refused: %#', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  test('counts its records from 1, through all pages', () => {
    const reader = new JsonReader((key) => key === 'links')
    reader.write('{"links":[{"a":1},{"a":2}]}\n{"links":[{"a":3}]}')
    expect(reader.records.map(({ row }) => row)).toEqual([1, 2, 3])
  })
})
