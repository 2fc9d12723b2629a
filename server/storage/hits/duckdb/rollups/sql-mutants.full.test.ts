// Each rule in the SQL of roll-ups matters: without it, some of a few hundred questions get a wrong answer.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are parts of sources

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HAND_MADE_QUESTIONS, HAND_MADE_WORLD } from '../../../../../tests/support/rollups/hand-made-world.ts'
import { createHitWorld, type HitWorld } from '../../../../../tests/support/rollups/hit-world.ts'
import {
  openRolledWorld,
  type QuestionSql,
  type RolledWorld,
} from '../../../../../tests/support/rollups/memory-rollups.ts'
import {
  importMutant,
  type Mutant,
  type MutantRule,
  toMutants,
} from '../../../../../tests/support/rollups/mutate-source.ts'
import { recountHits } from '../../../../../tests/support/rollups/recount-hits.ts'
import { createQuestion } from '../../../../../tests/support/rollups/world-questions.ts'
import { createRandom } from '../../../../lib/seeded-random.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { HitAnswer, HitQuery } from '../../hit-engine.ts'
import { toHeadSql } from '../../rollups/head-sql.ts'
import { toRolledSql } from '../../rollups/rolled-sql.ts'
import { CLICK_COLUMNS } from '../../rollups/rollup.ts'
import { rollUp } from './roll-day.ts'

const HITS = join(import.meta.dir, '../..')
const ASKING = ['rollups/rolled-sql.ts', 'rollups/head-sql.ts']
const ROLLING = ['rollups/roll-sql.ts', 'duckdb/rollups/roll-day.ts']
const SQL: QuestionSql = { toHeadSql, toRolledSql }

/** Rules of the statements that read the sums. */
const SUMS: MutantRule[] = [
  ['first clicks before a cut', 'THEN lasts ELSE firsts END', 'THEN lasts ELSE lasts END'],
  ['last clicks after a cut', 'THEN lasts ELSE firsts END', 'THEN firsts ELSE firsts END'],
  ['the quarter hour of the cut', "'slot >= cut_slot'", "'slot > cut_slot'"],
  ['the range before a cut', 'WHERE moment >= ${bind(query.start)} AND', 'WHERE'],
  ['the range after a cut', ' AND moment < ${bind(query.end)}', ''],
  ['the day of a cut', ' ON day = cut_day', ' ON day = cut_day OR slot = cut_slot'],
  [
    'filters',
    '...toRowConditions(builder), days, ...toFilterConditions(builder)]',
    '...toRowConditions(builder), days]',
  ],
  ['empty rows', 'HAVING sum(c) > 0', ''],
  ['the range of hits', '{ ...query, start: first.start, end: last.end }', 'query'],
  [
    'roll-ups between hits',
    "spans.length === 1 ? range : `${range} AND ${toAnySpanSql('recorded_at', spans, bind)}`",
    'range',
  ],
  ['that each hit is in one piece', 'spans.slice(ends[n - 1] ?? 0, end)', 'spans.slice(0, end)'],
  ['the last hits', 'sort((a, b) => a - b), spans.length]', 'sort((a, b) => a - b)]'],
  ['the column', '[toNameCondition(set, bind)]', '[]'],
  ['the workspace', 'workspace_id = ${bind(workspaceId)}', 'workspace_id > 0'],
  ['landings', "['landings', 'landing_visitors']", "['clicks', 'visitors']"],
  ['imports', "['imports', 'import_visitors']", "['clicks', 'visitors']"],
  [
    'the end of days',
    '${column} >= ${bind(start)} AND ${column} < ${bind(end)}',
    '${column} >= ${bind(start)} AND ${column} <= ${bind(end)}',
  ],
  ['gaps between days', '`${any} AND day', '`day'],
  ['months', 'const pieces = [...toMonthPieces(builder), ', 'const pieces = ['],
]

/** Rules of top lists: of the search for the keys that can be in one. */
const HEADS: MutantRule[] = [
  ['the bounds of months without the key', 'low + ${bind(bound)} - known_bound >=', 'low >='],
  ['ties with the last place', '- known_bound >= last_low', '- known_bound > last_low'],
  ['keys that no head names', 'bound >= Number(lastLow)', 'bound > 1_000_000'],
  ['lists with room', 'Number(places ?? 0) < groupBy.limit || ', ''],
]
/** They matter for hand-made hits. */
const HAND_MADE_HEADS: MutantRule[] = [
  ['keys of equal clicks that no head names', 'bound >= Number(lastLow)', 'bound > Number(lastLow)'],
  ['days outside months', ', ...toDayPieces(builder), ', ', '],
  ['hits that are not rolled up', ', ...toRawPieces(builder)]', ']'],
  ['filters of the list', ' || filters.length > 0) return undefined', ') return undefined'],
]

/** They matter where months have few clicks, and some of them no tail. */
const SMALL_HEADS: MutantRule[] = [
  ['months without a tail', 'plan: { ...plan, months: others }', 'plan: { ...plan, months: [] }'],
]

const ORIGINS: MutantRule[] = [
  ['sources beyond the limit', 'const by = { by: groupBy.by, nullAs: groupBy.nullAs }', 'const by = groupBy'],
]

/** Rules of the statements that make the sums of days. */
const DAYS: MutantRule[] = [
  [
    'nobody as a link’s visitor',
    "const sums = 'sum(n) AS clicks, count(nullif(visitor, 0)) AS visitors'",
    "const sums = 'sum(n) AS clicks, count(*) AS visitors'",
  ],
  ['nobody as a value’s visitor', 'sum(n), count(nullif(visitor, 0))\n', 'sum(n), count(*)\n'],
  ['nobody’s first and last click', 'WHERE visitor <> 0 GROUP BY', 'GROUP BY'],
  ['nobody as a day’s visitor', '_of > 0 AND visitor <> 0 THEN', '_of > 0 THEN'],
  ['the first click', 'min(slot) AS first_slot', 'max(slot) AS first_slot'],
  ['the last click', 'max(slot) AS last_slot', 'min(slot) AS last_slot'],
  ['landings among clicks', '(SELECT * FROM ${source} WHERE NOT is_landing)', '(SELECT * FROM ${source})'],
  ['landings as landings', "['is_landing', 'landings'", "['true', 'landings'"],
  ['imported landings', "'is_import AND NOT is_landing'", "'is_import'"],
  ['other classes', "class = 'human' AND outcome IN", 'outcome IN'],
  ['other outcomes', " AND outcome IN ('redirect', 'landing')", ''],
  [
    'the name of null in values',
    "`coalesce(${stored}, '${toNullLabel(column)}')`",
    "`coalesce(${stored}, '')`",
  ],
  [
    'the name of null of people',
    "`coalesce(${column}, '${toNullLabel(column)}') AS ${column}`",
    "`coalesce(${column}, '') AS ${column}`",
  ],
  ['mixed sets', 'WHERE s <> visitors', 'WHERE false'],
]
/** Rules that hand-made hits need. */
const HAND_MADE: MutantRule[] = [
  ['mixed people', 'FROM roll_people WHERE ${where}', 'FROM roll_people WHERE false AND ${where}'],
  ['mixed links', 'FROM roll_links WHERE ${where}', 'FROM roll_links WHERE false AND ${where}'],
  ['the first value after the heads', 'WHERE place <= ${headValues + 1}', 'WHERE place <= ${headValues + 2}'],
]

/** Rules of the statements that make the sums of months. */
const MONTHS: MutantRule[] = [
  [
    'the clicks of a month',
    '${columns}, sum(clicks), sum(visitors)',
    '${columns}, max(clicks), sum(visitors)',
  ],
  [
    'the visitors of a month',
    '${columns}, sum(clicks), sum(visitors)',
    '${columns}, sum(clicks), max(visitors)',
  ],
]
const BOUND = 'min(clicks) OVER (PARTITION BY workspace_id, set_number) AS bound'
const BOUNDS: MutantRule[] = [
  ['the bound of the tail', BOUND, '0 AS bound'],
  ['the column of the bound', BOUND, 'min(clicks) OVER (PARTITION BY workspace_id) AS bound'],
]

const copies = mkdtempSync(join(tmpdir(), 'sql-mutants-'))
afterAll(() => rmSync(copies, { recursive: true, force: true }))

const importCopy = (mutant: Mutant, files: string[]) =>
  importMutant(HITS, files, mutant, join(copies, `${mutant.file} ${mutant.name}`.replace(/\W+/g, '-')))

interface AskedQuestion {
  query: HitQuery
  expected: HitAnswer[]
}

/** @returns how many questions it took to get a wrong answer or an error; undefined when all were right */
async function findWrong(rolled: RolledWorld, questions: readonly AskedQuestion[], sql: QuestionSql) {
  for (const [index, { query, expected }] of questions.entries()) {
    const answers = await rolled.ask(query, sql).catch((error: unknown) => String(error))
    if (answers && !Bun.deepEquals(answers, expected)) return index + 1
  }
  return undefined
}

interface QuestionPool {
  seed: number
  busy: number
  days: number
  headValues: number
  /** How many days at the end are not rolled up. */
  open?: number
  questions: number
  isWanted?(query: HitQuery): boolean
}

async function openQuestions({ seed, busy, days, headValues, open, questions, isWanted }: QuestionPool) {
  const world = createHitWorld(seed, busy, days)
  const random = createRandom(seed)
  function* create() {
    while (true) {
      const { query } = createQuestion(world, random)
      if (isWanted?.(query) ?? true) yield query
    }
  }
  return askWorld(await openRolledWorld(world, headValues, open), world, create(), questions)
}

const openHandMade = async () =>
  askWorld(await openRolledWorld(HAND_MADE_WORLD, 1), HAND_MADE_WORLD, HAND_MADE_QUESTIONS)

/** Takes the questions that are not left to the hits. */
async function askWorld(rolled: RolledWorld, world: HitWorld, queries: Iterable<HitQuery>, count = Infinity) {
  await rolled.rollDays(rollUp)
  await rolled.rollMonths(rollUp)
  const questions: AskedQuestion[] = []
  for (const query of queries) {
    if (await rolled.ask(query, SQL)) questions.push({ query, expected: recountHits(world.hits, query) })
    if (questions.length >= count) break
  }
  return { rolled, questions }
}

/** Whether heads can help to answer the question, or must not. */
const isTopList = ({ groupBy, filters, start, end }: HitQuery) =>
  filters.every(({ column }) => column === groupBy.by) &&
  'limit' in groupBy &&
  groupBy.limit <= 8 &&
  CLICK_COLUMNS.some((column) => column === groupBy.by) &&
  end - start > 40 * DAY_MS

const days = toMutants('rollups/roll-sql.ts', DAYS)
const handMade = toMutants('rollups/roll-sql.ts', HAND_MADE)

describe.each([
  {
    name: 'months',
    open: () => openQuestions({ seed: 3, busy: 6, days: 62, headValues: 3, questions: 300 }),
    asking: toMutants('rollups/rolled-sql.ts', SUMS),
    rolling: toMutants('rollups/roll-sql.ts', MONTHS),
  },
  {
    name: 'top lists of months',
    open: () =>
      openQuestions({
        seed: 2,
        busy: 4,
        days: 100,
        headValues: 3,
        open: 6,
        questions: 120,
        isWanted: isTopList,
      }),
    asking: [...toMutants('rollups/head-sql.ts', HEADS), ...toMutants('rollups/rolled-sql.ts', ORIGINS)],
    rolling: toMutants('rollups/roll-sql.ts', BOUNDS),
  },
  {
    name: 'top lists of small months',
    open: () =>
      openQuestions({ seed: 4, busy: 1, days: 100, headValues: 5, questions: 60, isWanted: isTopList }),
    asking: toMutants('rollups/head-sql.ts', SMALL_HEADS),
    rolling: [],
  },
  {
    name: 'a few days',
    open: () => openQuestions({ seed: 1, busy: 12, days: 7, headValues: 3, questions: 300 }),
    asking: [],
    rolling: days,
  },
  {
    name: 'hand-made days',
    open: openHandMade,
    asking: toMutants('rollups/head-sql.ts', HAND_MADE_HEADS),
    rolling: handMade,
  },
])('in $name', ({ open, asking, rolling }) => {
  let asked: Awaited<ReturnType<typeof openQuestions>>
  beforeAll(async () => {
    asked = await open()
  }, 120_000)
  afterAll(() => asked.rolled.close())

  test('all answers are right', async () => {
    expect(await findWrong(asked.rolled, asked.questions, SQL)).toBeUndefined()
  })

  if (asking.length > 0)
    test.each(asking)('a question that ignores $name is caught', async (mutant) => {
      const sql = { ...SQL, ...(await importCopy(mutant, ASKING)) }
      expect(await findWrong(asked.rolled, asked.questions, sql)).toBeDefined()
    })

  if (rolling.length > 0)
    test.each(rolling)('a roll-up that ignores $name is caught', async (mutant) => {
      const roll = (await importCopy(mutant, ROLLING)).rollUp as typeof rollUp
      if (rolling === days || rolling === handMade) await asked.rolled.rollDays(roll)
      if (rolling !== days) await asked.rolled.rollMonths(roll)
      expect(await findWrong(asked.rolled, asked.questions, SQL)).toBeDefined()
    })
})

test('heads of hand-made days leave few values to look up', async () => {
  const { rolled, questions } = await openHandMade()
  const found: (string[] | undefined)[] = []
  const toNotedHeadSql: typeof toHeadSql = (...asked) => {
    const head = toHeadSql(...asked)
    if (!head) return undefined
    const read: typeof head.read = (rows) => {
      found.push(head.read(rows))
      return found.at(-1)
    }
    return { ...head, read }
  }
  for (const { query } of questions) await rolled.ask(query, { ...SQL, toHeadSql: toNotedHeadSql })
  rolled.close()
  expect(found).toContainEqual(['hot in July'])
  expect(found).toContain(undefined)
})
