// Values are the same whether they are bound to a statement or written into its text.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { quick } from '../../../../tests/support/suite.ts'
import type { SqlValue } from '../../filter-sql.ts'
import { duckDbDialect } from './dialect.ts'
import { createMemoryInstance } from './memory-instance.ts'
import { runStatement } from './query.ts'
import { inlinePlainValues, toDuckDbType, toDuckDbValue } from './values.ts'

let instance: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  instance = await createMemoryInstance(100, '')
  connection = await instance.connect()
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

function toStatement(params: SqlValue[]): string {
  const values = params.map((value, n) => duckDbDialect.placeholder(n + 1, value))
  return `SELECT ${values.join(', ')}, '-- $' AS text`
}

const numbers = fc.maxSafeInteger()
const words = fc.oneof(
  fc.constantFrom('redirect', 'Not set', '', "'", "x' OR 1=1 --", '$1', '\\', 'é', 'a\nb'),
  fc.string(),
)
const values: fc.Arbitrary<SqlValue> = fc.oneof(
  numbers,
  words,
  fc.array(numbers, { minLength: 1, maxLength: 5 }),
  fc.array(words, { minLength: 1, maxLength: 5 }),
)

const plainValues = fc.oneof(numbers, fc.stringMatching(/^[\w ]{0,9}$/))
const lists = fc.oneof(
  fc.array(plainValues, { minLength: 1, maxLength: 12 }),
  fc.array(values, { minLength: 1, maxLength: 5 }),
)

quick('a statement gets the same values and types as when all are bound', async () => {
  await fc.assert(
    fc.asyncProperty(lists, async (params) => {
      const text = toStatement(params)
      const bound = await connection.runAndReadAll(text, params.map(toDuckDbValue), params.map(toDuckDbType))
      expect(await runStatement(connection, { text, params, read: (rows) => rows })).toEqual(bound.getRows())
    }),
    { numRuns: 300 },
  )
})

test('numbers and plain words are written into the text, each at its place', () => {
  const params = [-5, 'Not set', 3, 4, 5, 6, 7, 8, 9, 10, 'x']
  expect(inlinePlainValues('$2::VARCHAR, 1 -$1::BIGINT, $11', params)).toBe(
    "'Not set'::VARCHAR, 1 -(-5)::BIGINT, 'x'",
  )
})

const BOUND: SqlValue[] = ["'", 'a;', '\\', '$1', 'a-b', '\n', 'é', '\0', [1, 2], ['plain']]

test.each(BOUND.map((value) => ({ name: JSON.stringify(value), value })))(
  '$name is bound, and so is all beside it',
  ({ value }) => {
    expect(inlinePlainValues('$1, $2', [1, value])).toBeUndefined()
  },
)
