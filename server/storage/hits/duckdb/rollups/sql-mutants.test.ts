// Each rule in the SQL of roll-ups matters: without it, some of a few hundred questions get a wrong answer.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are parts of sources

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHitWorld } from '../../../../../tests/support/rollups/hit-world.ts'
import {
  openRolledWorld,
  type QuestionSql,
  type RolledWorld,
} from '../../../../../tests/support/rollups/memory-rollups.ts'
import { importMutant, type Mutant } from '../../../../../tests/support/rollups/mutate-source.ts'
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

type Rule = [name: string, from: string, to: string]

/** Rules of the statements that read the sums. */
const SUMS: Rule[] = [
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
  ['named referrers', "[toSetNumber('referrer'), NAMED_REFERRERS]", "[toSetNumber('referrer')]"],
  ['sources without a name', "[toSetNumber('referrer'), toSetNumber('source')]", "[toSetNumber('source')]"],
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
const HEADS: Rule[] = [
  ['the bounds of months without the key', 'low + ${bind(bound)} - known_bound >=', 'low >='],
  ['ties with the last place', '- known_bound >= last_low', '- known_bound > last_low'],
  ['keys that no head names', 'bound >= Number(lastLow)', 'bound > 1_000_000'],
  ['lists with room', 'Number(places ?? 0) < groupBy.limit || ', ''],
  ['days outside months', ', ...toDayPieces(builder), ...toRawPieces(builder)]', ']'],
]

/** They matter where months have few clicks, and some of them no tail. */
const SMALL_HEADS: Rule[] = [
  ['keys of equal clicks that no head names', 'bound >= Number(lastLow)', 'bound > Number(lastLow)'],
  ['months without a tail', 'plan: { ...plan, months: others }', 'plan: { ...plan, months: [] }'],
]

const ORIGINS: Rule[] = [
  ['sources beyond the limit', 'const by = { by: groupBy.by, nullAs: groupBy.nullAs }', 'const by = groupBy'],
]

/** Rules of the statements that make the sums of days. */
const DAYS: Rule[] = [
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
    "`coalesce(${stored}, '${toNullName(column)}')`",
    "`coalesce(${stored}, '')`",
  ],
  [
    'the name of null of people',
    "`coalesce(${column}, '${toNullName(column)}') AS ${column}`",
    "`coalesce(${column}, '') AS ${column}`",
  ],
  ['mixed sets', 'WHERE s <> visitors', 'WHERE false'],
]

/** Rules of the statements that make the sums of months. */
const MONTHS: Rule[] = [
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
const BOUNDS: Rule[] = [
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
  questions: number
  isWanted?(query: HitQuery): boolean
}

async function openQuestions(pool: QuestionPool) {
  const { seed, busy, days, headValues, questions: count, isWanted = () => true } = pool
  const world = createHitWorld(seed, busy, days)
  const rolled = await openRolledWorld(world, headValues)
  await rolled.rollDays(rollUp)
  await rolled.rollMonths(rollUp)
  const random = createRandom(seed)
  const questions: AskedQuestion[] = []
  while (questions.length < count) {
    const { query } = createQuestion(world, random)
    if (isWanted(query) && (await rolled.ask(query, SQL)))
      questions.push({ query, expected: recountHits(world.hits, query) })
  }
  return { rolled, questions }
}

/** Whether heads can help to answer the question. */
const isTopList = ({ groupBy, filters, start, end }: HitQuery) =>
  filters.length === 0 &&
  'limit' in groupBy &&
  groupBy.limit <= 8 &&
  CLICK_COLUMNS.some((column) => column === groupBy.by) &&
  end - start > 40 * DAY_MS

const toMutants = (file: string, rules: Rule[]): Mutant[] =>
  rules.map(([name, from, to]) => ({ name, file, from, to }))

const days = toMutants('rollups/roll-sql.ts', DAYS)

describe.each([
  {
    name: 'months',
    pool: { seed: 3, busy: 6, days: 62, headValues: 3, questions: 300 },
    asking: toMutants('rollups/rolled-sql.ts', SUMS),
    rolling: toMutants('rollups/roll-sql.ts', MONTHS),
  },
  {
    name: 'top lists of months',
    pool: { seed: 2, busy: 4, days: 100, headValues: 3, questions: 120, isWanted: isTopList },
    asking: [...toMutants('rollups/head-sql.ts', HEADS), ...toMutants('rollups/rolled-sql.ts', ORIGINS)],
    rolling: toMutants('rollups/roll-sql.ts', BOUNDS),
  },
  {
    name: 'top lists of small months',
    pool: { seed: 4, busy: 1, days: 100, headValues: 5, questions: 60, isWanted: isTopList },
    asking: toMutants('rollups/head-sql.ts', SMALL_HEADS),
    rolling: [],
  },
  {
    name: 'a few days',
    pool: { seed: 1, busy: 12, days: 7, headValues: 3, questions: 300 },
    asking: [],
    rolling: days,
  },
])('in $name', ({ pool, asking, rolling }) => {
  let asked: Awaited<ReturnType<typeof openQuestions>>
  beforeAll(async () => {
    asked = await openQuestions(pool)
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
      await (rolling === days ? asked.rolled.rollDays(roll) : asked.rolled.rollMonths(roll))
      expect(await findWrong(asked.rolled, asked.questions, SQL)).toBeDefined()
    })
})
