// Deletion together with the marks of days. Each of its rules is broken once here, to show that this test finds it.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are parts of sources

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { findSurvivors, toMutants } from '../../../../../tests/support/rollups/mutate-source.ts'
import { full } from '../../../../../tests/support/suite.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import { createMemoryInstance } from '../memory-instance.ts'
import * as marks from './marks.ts'
import { prepareRollUps } from './tables.ts'

const MAY_1 = Date.UTC(2026, 4, 1) / DAY_MS
const JUNE_1 = MAY_1 + 31
const [DAY, LATER] = [MAY_1 + 9, JUNE_1 + 9]

let directory: string
let instance: DuckDBInstance
let connection: DuckDBConnection

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'marks-'))
  instance = await createMemoryInstance(100, directory)
  connection = await instance.connect()
  await prepareRollUps(connection)
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
  rmSync(directory, { recursive: true, force: true })
})

/** Two days of two months, each with a row of two workspaces. */
async function fill() {
  for (const table of ['roll_marks', 'roll_month_marks', 'roll_links', 'roll_month_links'])
    await connection.run(`DELETE FROM ${table}`)
  await connection.run(`INSERT INTO roll_marks VALUES (${DAY}, 2), (${LATER}, 2)`)
  await connection.run(`INSERT INTO roll_month_marks VALUES (${MAY_1}, 2), (${JUNE_1}, 2)`)
  for (const [table, days] of Object.entries({ roll_links: [DAY, LATER], roll_month_links: [MAY_1, JUNE_1] }))
    for (const day of days)
      await connection.run(`INSERT INTO ${table} VALUES (1, ${day}, 1, 5, 4), (2, ${day}, 1, 5, 4)`)
}

const readDays = async (table: string) =>
  (await connection.runAndReadAll(`SELECT day FROM ${table} ORDER BY ALL`))
    .getRows()
    .map(([day]) => Number(day))

/** @returns the days of the marks, of the sums, and of those of months, after some work */
async function runOn(work: () => Promise<unknown>) {
  await fill()
  const result = await work()
  const [days, months] = [await readDays('roll_marks'), await readDays('roll_month_marks')]
  return {
    result,
    days,
    months,
    sums: await readDays('roll_links'),
    monthSums: await readDays('roll_month_links'),
  }
}

const BOTH = [DAY, DAY, LATER, LATER]
const MONTHS = [MAY_1, MAY_1, JUNE_1, JUNE_1]

async function expectRules({ unmarkDays, deleteRollUpsBefore, deleteRollUpsOf, checkRollUps }: typeof marks) {
  const unmarked = { days: [LATER], months: [JUNE_1], sums: BOTH, monthSums: MONTHS }
  expect(await runOn(() => unmarkDays(connection, [DAY]))).toEqual({ result: 1, ...unmarked })
  expect(await runOn(() => unmarkDays(connection, [DAY - 1]))).toEqual({
    result: 0,
    ...unmarked,
    days: [DAY, LATER],
  })
  expect(await runOn(() => deleteRollUpsOf(connection, 1, [DAY]))).toMatchObject({
    ...unmarked,
    sums: [DAY, LATER, LATER],
    monthSums: [MAY_1, JUNE_1, JUNE_1],
  })
  // Within a day whose hits were deleted in part, and at its end.
  expect(await runOn(() => deleteRollUpsBefore(connection, (LATER + 0.5) * DAY_MS, true))).toMatchObject({
    days: [],
    months: [],
    sums: [LATER, LATER],
    monthSums: [],
  })
  for (const [before, isCut] of [
    [LATER + 0.5, false],
    [LATER, true],
  ] as const)
    expect((await runOn(() => deleteRollUpsBefore(connection, before * DAY_MS, isCut))).days).toEqual([LATER])
  const lost = (table: string, day: number) => async () => {
    await connection.run(`DELETE FROM ${table} WHERE day = ${day} AND workspace_id = 2`)
    return checkRollUps(connection)
  }
  expect(await runOn(() => checkRollUps(connection))).toMatchObject({ result: 0, days: [DAY, LATER] })
  expect(await runOn(lost('roll_links', DAY))).toMatchObject({ result: 1, days: [LATER], months: [JUNE_1] })
  expect(await runOn(lost('roll_month_links', MAY_1))).toMatchObject({
    result: 1,
    days: [DAY, LATER],
    months: [JUNE_1],
  })
}

test('marks are deleted with those of their months, and sums with the workspace or the time that they are of', () =>
  expectRules(marks))

const MUTANTS = toMutants('marks.ts', [
  [
    'the marks of months',
    'await connection.run(`DELETE FROM roll_month_marks WHERE day IN (${[...months].join',
    'void (`${[...months].join',
  ],
  [
    'which month it is',
    'new Set(days.map(toMonth))\n  const { rowsChanged }',
    'new Set(days)\n  const { rowsChanged }',
  ],
  ['the day that is cut', 'if (isCut && before % DAY_MS !== 0) await unmarkDays(connection, [day])', ''],
  ['where nothing is cut', 'if (isCut && before % DAY_MS !== 0) await', 'await'],
  ['a cut without deleted hits', 'if (isCut && before', 'if (before'],
  ['the time of sums', 'WHERE day < ${day}`', 'WHERE day <= ${day}`'],
  [
    'the marks of a workspace’s days',
    '  await unmarkDays(connection, days)\n  const remove',
    '  const remove',
  ],
  ['the workspace', 'WHERE workspace_id = $1::BIGINT AND day IN', 'WHERE $1::BIGINT > 0 AND day IN'],
  ['the sums of its months', '  await remove(MONTH_TABLES, new Set(days.map(toMonth)))\n', ''],
  [
    'days that lack rows',
    '  await unmarkDays(connection, days)\n  if (months.length > 0)',
    '  if (months.length > 0)',
  ],
  ['months that lack rows', '  if (months.length > 0)', '  if (months.length > 9)'],
])

full('this test fails without any one of the rules', async () => {
  expect(await findSurvivors(import.meta.dir, ['marks.ts'], MUTANTS, expectRules)).toEqual([])
})
