// Valid roll-ups in ClickHouse, and days that may not be rolled up. Each rule is broken once here, to show that this
// test finds it.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are parts of sources

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHitQuery } from '../../../../../tests/contracts/hit-engine.ts'
import {
  CLICKHOUSE_START_MS,
  getClickHouse,
} from '../../../../../tests/support/clickhouse/clickhouse-server.ts'
import { findSurvivors, toMutants } from '../../../../../tests/support/rollups/mutate-source.ts'
import { full } from '../../../../../tests/support/suite.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import { toSetNumber } from '../../rollups/rolled-sql.ts'
import { toNextMonth } from '../../rollups/rollup.ts'
import { type ClickHouseClient, createClickHouseClient } from '../client.ts'
import { openClickHouse } from '../engine.ts'
import * as dayChanges from './day-changes.ts'
import * as rollState from './roll-state.ts'

setDefaultTimeout(120_000)

const toDayNumber = (date: string) => Date.parse(`${date}T00:00:00Z`) / DAY_MS
const APRIL_1 = toDayNumber('2026-04-01')
const [JUNE_1, JULY_1, AUGUST_1, SEPTEMBER_1, OCTOBER_1, NOVEMBER_1] = [
  '2026-06-01',
  '2026-07-01',
  '2026-08-01',
  '2026-09-01',
  '2026-10-01',
  '2026-11-01',
].map(toDayNumber) as [number, number, number, number, number, number]
const WORKSPACE = 7
const RULES = 'these rules'
/** Node `a` does not know roll-ups and has loaded 7 batches. Node `b` records changes from its batch 4 on. */
const SILENT = 7 + 3

let client: ClickHouseClient
let directory: string

beforeAll(async () => {
  const server = await getClickHouse()
  const url = await server.takeDatabase()
  directory = mkdtempSync(join(tmpdir(), 'roll-state-'))
  const engine = await openClickHouse({ urls: [url], scratchDir: directory, rollUpSettleMs: 0 })
  await engine.close()
  client = createClickHouseClient([url])
  await fill()
}, CLICKHOUSE_START_MS)
afterAll(async () => {
  await client.close()
  rmSync(directory, { recursive: true, force: true })
})

const insert = (table: string, columns: string, rows: string[]) =>
  client.execute(`INSERT INTO ${table} (${columns}) VALUES ${rows.join(', ')}`)

interface MarkedDay {
  day: number
  roll: number
  touches?: number
  touched?: readonly number[]
  rules?: string
  silent?: number
  steps?: readonly string[]
  madeAt?: string
}

/** A day of whose mark one thing at most is wrong. */
const DAYS: MarkedDay[] = [
  { day: APRIL_1, roll: 10 },
  { day: APRIL_1, roll: 11, touched: [], madeAt: '2026-05-01 00:00:00' },
  // Changes that came later, that are gone, and one that a repeated statement has stored twice.
  { day: APRIL_1 + 1, roll: 12, touched: [5, 6] },
  { day: APRIL_1 + 2, roll: 13, touched: [] },
  { day: APRIL_1 + 3, roll: 14, touched: [5, 5] },
  { day: APRIL_1 + 4, roll: 15, touches: 0, touched: [] },
  { day: APRIL_1 + 5, roll: 16, rules: 'other rules' },
  { day: APRIL_1 + 6, roll: 17, silent: SILENT - 1 },
  { day: APRIL_1 + 7, roll: 18, steps: [] },
  { day: APRIL_1 + 8, roll: 19, steps: ['ended'] },
  { day: APRIL_1 + 9, roll: 20, steps: ['begun', 'dropped'] },
  { day: NOVEMBER_1, roll: 21 },
]

/** A roll-up for each day from June to October, with the number of the day; October 9 has none. */
const MONTH_DAYS = Array.from({ length: NOVEMBER_1 - JUNE_1 }, (_, index) => JUNE_1 + index).filter(
  (day) => day !== OCTOBER_1 + 8,
)
const listDays = (month: number) =>
  Array.from({ length: toNextMonth(month) - month }, (_, index) => month + index)

/** A month of whose mark one thing at most is wrong. */
const MONTHS = [
  { month: JUNE_1, roll: 30 },
  { month: JULY_1, roll: 31, rolls: [...listDays(JULY_1).slice(1), 99] },
  { month: JULY_1, roll: 32, rolls: listDays(JULY_1).slice(1) },
  { month: JULY_1, roll: 36, rolls: [...listDays(JULY_1), 99] },
  { month: AUGUST_1, roll: 33, rules: 'other rules' },
  { month: SEPTEMBER_1, roll: 34, steps: ['begun', 'dropped'] },
  { month: OCTOBER_1, roll: 35, rolls: listDays(OCTOBER_1).filter((day) => day !== OCTOBER_1 + 8) },
]

async function fill() {
  const days: MarkedDay[] = [...DAYS, ...MONTH_DAYS.map((day) => ({ day, roll: day }))]
  await insert(
    'roll_marks',
    'day, roll, touches, silent, rules, rows, made_at',
    days.map(
      ({ day, roll, touches = 5, silent = SILENT, rules = RULES, madeAt = '2026-05-02 00:00:00' }) =>
        `(${day}, ${roll}, ${touches}, ${silent}, '${rules}', 1, '${madeAt}')`,
    ),
  )
  await insert(
    'roll_touches',
    'day, source, number, touch, touched_at',
    days.flatMap(({ day, touched = [5] }) => touched.map((touch) => `(${day}, 'b', 9, ${touch}, now64(3))`)),
  )
  await insert(
    'roll_month_marks',
    'day, roll, day_rolls, rules, rows, made_at',
    MONTHS.map(
      ({ month, roll, rolls = listDays(month), rules = RULES }) =>
        `(${month}, ${roll}, [${rolls}], '${rules}', 1, now64(3))`,
    ),
  )
  const begun: { roll: number; steps?: readonly string[] }[] = [...days, ...MONTHS]
  await insert(
    'roll_steps',
    'roll, day, step, workspace_id, rows, made_at',
    begun.flatMap(({ roll, steps = ['begun', 'ended'] }) =>
      steps.map((step) => `(${roll}, 0, '${step}', 0, 0, now64(3))`),
    ),
  )
  await insert(
    'roll_intents',
    'day, made_at',
    [JUNE_1, NOVEMBER_1 - 1].map((day) => `(${day}, now64(3))`),
  )
  await insert('hit_marks', 'node, batch', ["('a', 7)", "('b', 9)", "('c', 2)"])
  // Node `c` has said so twice, because it was started twice at once, and nodes may say so before their first batch.
  await insert('roll_loaders', 'node, batch', ["('b', 4)", "('c', 1)", "('c', 3)", "('d', 1)"])
  const people = toSetNumber('people')
  await insert(
    'roll_mixed',
    'workspace_id, name, day, roll',
    [
      [WORKSPACE, people, APRIL_1, 10],
      [WORKSPACE, people, APRIL_1 + 3, 99],
      [WORKSPACE, toSetNumber('links'), JUNE_1, JUNE_1],
      [WORKSPACE + 1, people, JUNE_1 + 1, JUNE_1 + 1],
      [WORKSPACE, people, JULY_1 - 1, JULY_1 - 1],
    ].map((row) => `(${row})`),
  )
  await insert(
    'hits',
    'node, id, workspace_id, recorded_at',
    [APRIL_1 + 0.5, NOVEMBER_1 + 0.5].map((day, id) => `('a', ${id}, 1, ${day * DAY_MS})`),
  )
}

/** @throws when these functions find other roll-ups than those that count */
async function expectRules({ readValidRolls, readRollState }: typeof rollState) {
  const { select } = client
  const all = await readValidRolls(select, RULES)
  const rolls = new Map([[APRIL_1, 10], [APRIL_1 + 3, 14], ...MONTH_DAYS.map((day) => [day, day] as const)])
  const byDay = (found: ReadonlyMap<number, number>) => [...found].sort(([a], [b]) => a - b)
  expect(byDay(all.days)).toEqual(byDay(rolls))
  expect(byDay(all.months)).toEqual([[JUNE_1, 30]])
  expect(all.hitDays).toEqual({ start: APRIL_1, end: NOVEMBER_1 + 1 })

  const query = createHitQuery({
    workspaceId: WORKSPACE,
    start: APRIL_1 * DAY_MS + 1,
    end: (APRIL_1 + 3) * DAY_MS,
  })
  const some = await readValidRolls(select, RULES, rollState.toDaySpan(query))
  expect(byDay(some.days)).toEqual([[APRIL_1, 10]])
  expect(byDay(some.months)).toEqual([])

  const { start, end } = { start: APRIL_1 * DAY_MS, end: (JULY_1 - 1) * DAY_MS }
  const read = (needsUnmixed: boolean) =>
    readRollState(select, { ...query, start, end }, { set: 'people', needsUnmixed }, all, {})
  const state = await read(true)
  expect([...state.mixed]).toEqual([APRIL_1])
  expect([...state.days].sort()).toEqual([...rolls.keys()].sort())
  expect([...state.months]).toEqual([JUNE_1])
  expect(new Set(state.rolls)).toEqual(new Set([...rolls.values(), 30]))
  expect([...(await read(false)).mixed]).toEqual([])
}

test('roll-ups count while their days have the hits that they were made of', () => expectRules(rollState))

test('the ends of a question’s days', () => {
  const at = (start: number, end: number) => rollState.toDaySpan({ start: start * DAY_MS, end: end * DAY_MS })
  expect(at(3, 5)).toEqual({ start: 3, end: 5 })
  expect(at(3.5, 4.5)).toEqual({ start: 3, end: 5 })
  expect(at(-1e10, 1e10)).toEqual({ start: -(2 ** 31), end: 2 ** 31 - 1 })
})

const STATE = 'roll-state.ts'
const SILENCE = 'silent-nodes.ts'
const IN_SPAN = ' WHERE day >= {p1:Int64} AND day < {p2:Int64} AND rules = {p3:String}'

full('this test fails without any one of the rules', async () => {
  const mutants = [
    ...toMutants(STATE, [
      ['that a roll-up has begun', "countIf(step = 'begun') > 0", 'true'],
      ['that a roll-up was dropped', "countIf(step = 'dropped') = 0", 'true'],
      ['the newest of two', 'argMax(roll, (made_at, roll))', 'argMin(roll, (made_at, roll))'],
      [
        'the rules of days',
        `${IN_SPAN} AND touches`,
        ' WHERE day >= {p1:Int64} AND day < {p2:Int64} AND touches',
      ],
      ['changes of nobody', 'touches != 0 AND ', ''],
      ['the changes of the mark', 'AND touches = ifNull(touched, 0)', ''],
      ['nodes that record nothing', ` AND silent = ${'${SILENT_BATCHES}'}`, ''],
      ['the intent', 'if(count() = 0, ${FIRST_DAY}, max(day))', '${LAST_DAY}'],
      ['the last intent', 'max(day)) FROM roll_intents', 'min(day)) FROM roll_intents'],
      ['steps of days', ' AND roll IN ${STANDING}\n  GROUP BY day', '\n  GROUP BY day'],
      ['the rules of months', `${IN_SPAN}\n`, ' WHERE day >= {p1:Int64} AND day < {p2:Int64}\n'],
      ['steps of months', '\n    AND roll IN ${STANDING}', ''],
      [
        'the roll-ups of a month’s days',
        'isSame(listDayRolls(valid.days, Number(day)), dayRolls as unknown[])',
        'true',
      ],
      ['how many days a month has', 'rolls?.length === cells.length && ', 'rolls !== undefined && '],
      [
        'which roll-ups a month names',
        'every((roll, index) => roll === Number(cells[index]))',
        'every(() => true)',
      ],
      [
        'days of a month without a roll-up',
        'if (roll === undefined) return undefined',
        'if (roll === undefined) continue',
      ],
      ['the last day with hits', 'Number(roll) + 1 }', 'Number(roll) }'],
      ['questions that mixed days do not matter to', '!needsUnmixed || ', ''],
      ['the workspace of mixed days', 'WHERE workspace_id = ${workspace} AND', 'WHERE ${workspace} > 0 AND'],
      ['the set of mixed days', 'AND name = ${name}', 'AND ${name} > 0'],
      ['mixed days after the question', 'AND day < ${after}', 'AND ${after} > 0'],
      ['mixed days of roll-ups that do not count', 'AND roll IN ${list}', 'AND length(${list}) > 0'],
    ]),
    ...toMutants('day-changes.ts', [
      ['changes of a repeated statement', "'groupBitXorDistinct(touch)'", "'groupBitXor(touch)'"],
    ]),
    ...toMutants(SILENCE, [
      ['the batches before a node knew roll-ups', 'since - 1', '0'],
      ['that the first batch counts', 'since - 1', 'since'],
      ['nodes that do not know roll-ups', 'since - 1, loaded', 'since - 1, 0'],
      ['the first of two batches', 'min(batch) AS since', 'max(batch) AS since'],
    ]),
  ]
  const files = [STATE, 'day-changes.ts', SILENCE]
  expect(await findSurvivors(import.meta.dir, files, mutants, expectRules)).toEqual([])
})

const MARCH_20 = APRIL_1 - 12

/** @throws when a day may be rolled up that waits for hits, or the other way round */
async function expectDayChanges({ readDayChanges }: typeof dayChanges) {
  const found = [...(await readDayChanges(client))].filter(([day]) => day < APRIL_1).sort(([a], [b]) => a - b)
  const facts = found.map(([, { isAwaited, isChanging, changes: known }]) =>
    [isAwaited && 'awaited', isChanging && 'changing', known].filter(Boolean).join(' '),
  )
  const expected = [
    '1',
    'awaited 2',
    'awaited 3',
    'changing 4',
    '5',
    '6',
    `changing ${7 ^ 3}`,
    `awaited ${1 ^ 2}`,
  ]
  expect(facts).toEqual(expected)
}

test('a day waits for batches and deletions that have begun to change it', async () => {
  const rows: [day: number, source: string, number: number, touch: number, at?: string][] = [
    // A batch that is loaded, one that is not, and one of a node that has loaded nothing.
    [0, 'b', 9, 1],
    [1, 'b', 10, 2],
    [2, 'e', 1, 3],
    // Deletions: one that runs, one that is over, one of a process that was killed, and one of two.
    [3, 'delete/x/1', 0, 4],
    [4, 'delete/x/2', 0, 5],
    [4, 'delete/x/2', 1, 5],
    [5, 'delete/x/3', 0, 6, 'now64(3) - INTERVAL 25 HOUR'],
    [6, 'delete/x/4', 0, 7],
    [6, 'delete/x/5', 0, 3],
    [6, 'delete/x/5', 1, 3],
    [7, 'b', 9, 1],
    [7, 'a', 8, 2],
  ]
  await insert(
    'roll_touches',
    'day, source, number, touch, touched_at',
    rows.map(
      ([at, source, number, touch, when = 'now64(3)']) =>
        `(${MARCH_20 + at}, '${source}', ${number}, ${touch}, ${when})`,
    ),
  )
  await expectDayChanges(dayChanges)
  const mutants = toMutants('day-changes.ts', [
    ['batches that are loaded', 'is_node AND max(number) > ifNull(any(loaded), 0)', 'is_node'],
    ['batches that are not loaded', 'is_node AND max(number) > ifNull(any(loaded), 0)', 'false'],
    ['that a deletion is over', 'max(number) = ${BEGUN} AND max(touched_at)', 'max(touched_at)'],
    ['that a deletion runs', 'NOT is_node AND max(number)', 'false AND max(number)'],
    ['that a process was killed', ' AND max(touched_at) > now64(3) - INTERVAL 1 DAY', ''],
    ['each source of a day', 'max(awaited), max(changing)', 'min(awaited), min(changing)'],
    ['the changes of all sources', 'SELECT day, groupBitXor(touches)', 'SELECT day, max(touches)'],
  ])
  expect(await findSurvivors(import.meta.dir, ['day-changes.ts'], mutants, expectDayChanges)).toEqual([])
})
