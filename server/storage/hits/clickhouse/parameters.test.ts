import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createClient, type ClickHouseClient as OfficialClient } from '@clickhouse/client'
import fc from 'fast-check'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import type { SqlValue } from '../../filter-sql.ts'
import { type ClickHouseClient, createClickHouseClient } from './client.ts'
import { toFields, toPlaceholder } from './parameters.ts'

let server: ClickHouseServer
let client: ClickHouseClient
let official: OfficialClient
beforeAll(async () => {
  server = await getClickHouse()
  client = createClickHouseClient([server.url])
  official = createClient({ url: server.url })
}, CLICKHOUSE_START_MS)
afterAll(async () => {
  await client.close()
  await official.close()
})

/** Whole numbers of 64 bits come as texts. */
const toExpected = (value: SqlValue): unknown =>
  Array.isArray(value) ? value.map(toExpected) : typeof value === 'number' ? String(value) : value

/** A value as the server understands it. */
async function echo(value: SqlValue): Promise<unknown> {
  const [[text] = []] = await client.select(`SELECT toJSONString(${toPlaceholder(1, value)})`, {
    params: [value],
  })
  return JSON.parse(String(text))
}

async function echoOfficially(value: SqlValue): Promise<unknown> {
  const type = (each: SqlValue): string =>
    Array.isArray(each) ? `Array(${type(each[0] ?? 0)})` : typeof each === 'string' ? 'String' : 'Int64'
  const answer = await official.query({
    query: `SELECT toJSONString({p1:${type(value)}})`,
    query_params: { p1: value },
    format: 'JSONCompactEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
  })
  const [[text] = []] = await answer.json<[string]>()
  return JSON.parse(String(text))
}

const HOSTILE = [
  '',
  "'",
  "''",
  "\\'",
  '\\',
  '\\\\',
  '\\N',
  'NULL',
  '\t',
  '\n',
  '\r\n',
  '\0',
  'a\0b',
  '\b\f\v\u0007',
  "'; DROP TABLE hits; --",
  "') OR 1 = 1 --",
  '{p2:String}',
  '$1 @p1 :p1 ?',
  '%27%00&param_p2=1',
  "['a', 'b']",
  "',']",
  '😀',
  'é',
  '\ufeff',
  '\u2028',
  '--boundary\r\nContent-Disposition: form-data; name="query"\r\n\r\nSELECT 1',
  'x'.repeat(3000),
]
const anyText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(fc.constantFrom("'", '\\', '\t', '\n', '\r', '\0', ',', '[', ']', 'n', 'x', '😀'))
    .map((parts) => parts.join('')),
)
const anyNumber = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
)
const anyValue: fc.Arbitrary<SqlValue> = fc.oneof(
  anyText,
  anyNumber,
  fc.array(anyText, { minLength: 1, maxLength: 20 }),
  fc.array(anyNumber, { minLength: 1, maxLength: 20 }),
)

test('the server understands every value as it is, and as the official client sends it', async () => {
  await fc.assert(
    fc.asyncProperty(anyValue, async (value) => {
      expect(await echo(value)).toEqual(toExpected(value))
      expect(await echoOfficially(value)).toEqual(toExpected(value))
    }),
    {
      numRuns: atScale({ quick: 20, full: 80, soak: 3_000 }),
      examples: [[HOSTILE], ...HOSTILE.map((text): [SqlValue] => [text])],
    },
  )
}, 120_000)

test('no part of a value is in the text of a statement', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(toPlaceholder(7, value)).toMatch(/^\{p7(_0)?:(Int64|String|Array\((Int64|String)\))\}$/)
    }),
  )
})

test('a lone surrogate becomes the replacement character, in texts and in lists', async () => {
  expect(await echo('a\ud800b')).toBe('a\ufffdb')
  expect(await echo(['\udc00', 'x'])).toEqual(['\ufffd', 'x'])
})

test('a number that is not whole, or not exact, is refused', () => {
  for (const number of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    expect(() => toFields([number])).toThrow('no whole number')
    expect(() => toFields([[1, number]])).toThrow('no whole number')
  }
})

const isFieldShort = ([, text]: [string, string]) => Buffer.byteLength(text) < 128 * 1024

test('long lists and long texts arrive whole, in fields that a server takes', async () => {
  const values: SqlValue[] = [
    Array.from({ length: 10_000 }, (_, n) => n * 1_000_003),
    Array.from({ length: 10_000 }, (_, n) => `it's \\ ${n} 😀`),
    "😀\\'".repeat(50_000),
    ['a', "'\t".repeat(60_000), 'b'],
    `x${'😀'.repeat(33_333)}`,
  ]
  for (const value of values) {
    expect(toFields([value]).every(isFieldShort)).toBe(true)
    expect(Bun.deepEquals(await echo(value), toExpected(value))).toBe(true)
  }
})

test('values of any length leave the address short', async () => {
  const addresses: number[] = []
  const listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      addresses.push(request.url.length)
      return new Response('')
    },
  })
  const other = createClickHouseClient([`http://127.0.0.1:${listener.port}/default`])
  const params = [Array.from({ length: 10_000 }, (_, n) => `value ${n}`)]
  await other.select(`SELECT ${toPlaceholder(1, params[0] as string[])}`, { params })
  expect(addresses).toHaveLength(1)
  expect(addresses[0]).toBeLessThan(4_000)
  await other.close()
  await listener.stop(true)
})
