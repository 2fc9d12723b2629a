// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are parts of sources

import { expect, test } from 'bun:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { findSurvivors, toMutants } from '../../../tests/support/rollups/mutate-source.ts'
import * as dayVisitor from './day-visitor.ts'
import { toStoredVisitor } from './day-visitor.ts'

const DAY = 24 * 60 * 60 * 1000
const MAX = '18446744073709551615'
const hex = (visitor: string, at: number) =>
  BigInt(toStoredVisitor(visitor, at)).toString(16).padStart(16, '0')

test.each([
  ['the first day', MAX, 0, '0000ffffffffffff'],
  ['its last millisecond', MAX, DAY - 1, '0000ffffffffffff'],
  ['the second day', MAX, DAY, '0001ffffffffffff'],
  ['a day in 2026', '1311768467463790320', Date.parse('2026-06-10T23:59:59.999Z'), '508656789abcdef0'],
  ['the day after it', '1311768467463790320', Date.parse('2026-06-11'), '508756789abcdef0'],
  ['the last day that 16 bits have', MAX, 65_535 * DAY, 'ffffffffffffffff'],
  ['the day after it', MAX, 65_536 * DAY, '0000ffffffffffff'],
])('a stored visitor has 48 bits of the hash below 16 bits of the day: %s', (_, visitor, at, expected) => {
  expect(hex(visitor, at)).toBe(expected)
})

test('a stored visitor stays the same, and nobody stays nobody', () => {
  for (const at of [0, DAY * 20_000 + 5, Number.MAX_SAFE_INTEGER])
    for (const visitor of [MAX, '1', '0', '281474976710656']) {
      const stored = toStoredVisitor(visitor, at)
      expect(toStoredVisitor(stored, at)).toBe(stored)
    }
  expect(toStoredVisitor('0', DAY * 20_000)).toBe('0')
})

/** @returns whether the function and DuckDB store these visitors as they should */
async function isRight(
  { toStoredVisitor: toStored, toDuckDbVisitor }: typeof dayVisitor,
  instance: DuckDBInstance,
) {
  const connection = await instance.connect()
  const answers = []
  for (const [visitor, at] of VISITORS) {
    const text = `SELECT (${toDuckDbVisitor(`${visitor}::UBIGINT`, `${at}::BIGINT`)})::VARCHAR`
    const stored = await connection.runAndReadAll(text).then((result) => result.getRows()[0]?.[0], String)
    answers.push([toStored(visitor, at), stored])
  }
  connection.closeSync()
  return Bun.deepEquals(
    answers,
    STORED.map((each) => [each, each]),
  )
}
const VISITORS: [visitor: string, at: number][] = [
  ['0', 9 * DAY],
  [MAX, 0],
  ['5', 2 * DAY - 1],
  [MAX, 65_537 * DAY],
]
const UNIT = 2n ** 48n
const STORED = [0n, UNIT - 1n, UNIT + 5n, 2n * UNIT - 1n].map(String)

test('each rule of a stored visitor matters, also in the SQL of DuckDB', async () => {
  const instance = await DuckDBInstance.create(':memory:')
  expect(await isRight(dayVisitor, instance)).toBe(true)
  const mutants = toMutants('day-visitor.ts', [
    ['nobody', "if (hash === 0n) return '0'", ''],
    ['48 bits', '(hash & HASH_MASK)', 'hash'],
    ['16 bits of the day', '(day & DAY_MASK)', 'day'],
    ['the day', 'BigInt(Math.trunc(at / DAY_MS))', '0n'],
    [
      'nobody in SQL',
      'CASE WHEN ${visitor} = 0 THEN 0::UBIGINT ELSE',
      'CASE WHEN false THEN 0::UBIGINT ELSE',
    ],
    ['48 bits in SQL', '(${visitor} & ${HASH_MASK}::UBIGINT)', '${visitor}'],
    ['16 bits of the day in SQL', '((${at} // ${DAY_MS}) & ${DAY_MASK})', '(${at} // ${DAY_MS})'],
    ['the day in SQL', '((${at} // ${DAY_MS})', '((0 // ${DAY_MS})'],
  ])
  const check = (copy: typeof dayVisitor) => isRight(copy, instance)
  expect(await findSurvivors(import.meta.dir, ['day-visitor.ts'], mutants, check)).toEqual([])
  instance.closeSync()
})
