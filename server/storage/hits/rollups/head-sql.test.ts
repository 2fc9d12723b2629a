// The values that a top list has to look up, by what the heads of a month leave open.

import { expect, test } from 'bun:test'
import { createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import { duckDbDialect } from '../duckdb/dialect.ts'
import { toHeadSql } from './head-sql.ts'

const MONTH = 20_000
const query = createHitQuery({ groupBy: { by: 'utmCampaign', limit: 2, nullAs: 'Unknown' } })
const plan = {
  set: 'utmCampaign' as const,
  days: [],
  cuts: [],
  raw: [],
  origin: [],
  months: [{ start: MONTH, end: MONTH + 31 }],
}
const state = {
  days: new Set<number>(),
  months: new Set([MONTH]),
  hitDays: { start: MONTH, end: MONTH + 31 },
  mixed: new Set<number>(),
  tails: new Map([[MONTH, 5]]),
}
/** @param rows key, clicks of the last place, number of places */
const read = (rows: unknown[][]) => toHeadSql(query, plan, state, duckDbDialect)?.read(rows)

test('names the values of the list where no other value can reach its last place', () => {
  expect(
    read([
      ['a', 6, 2],
      ['b', 6, 2],
    ]),
  ).toEqual(['a', 'b'])
})

test('leaves every value open where one that no head names could be in the list', () => {
  expect(read([])).toBeUndefined()
  expect(read([['a', 6, 1]])).toBeUndefined()
  expect(
    read([
      ['a', 5, 2],
      ['b', 5, 2],
    ]),
  ).toBeUndefined()
})
