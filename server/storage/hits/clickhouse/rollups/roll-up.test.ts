// Roll-ups in ClickHouse change no answer: whatever comes late, is deleted, runs twice or is killed.

import { afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHit, createHitQuery } from '../../../../../tests/contracts/hit-engine.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../../tests/support/clickhouse/clickhouse-server.ts'
import { damageTable } from '../../../../../tests/support/clickhouse/damage-table.ts'
import { atScale, full } from '../../../../../tests/support/suite.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { Hit } from '../../hit.ts'
import type { HitEngine, HitQuery } from '../../hit-engine.ts'
import { type ClickHouseClient, createClickHouseClient } from '../client.ts'
import { openClickHouse } from '../engine.ts'
import { insertHits } from '../load.ts'
import { openHitMoveTarget } from '../move-target.ts'
import { createQuestionRunner } from '../query.ts'
import { changeHits } from './day-changes.ts'
import { repairRollUps } from './repair.ts'
import { RULES } from './roll-rules.ts'
import { readValidRolls } from './roll-state.ts'
import { BOOKKEEPING_TABLES, SUM_TABLES } from './roll-tables.ts'
import { createSweeper } from './sweep.ts'

setDefaultTimeout(120_000)

const MAY_1 = Date.parse('2026-05-01T00:00:00Z')
const JUNE_1 = Date.parse('2026-06-01T00:00:00Z')
/** Long after the days of the tests. */
const LATER = Date.parse('2026-06-20T12:00:00Z')
/** https://github.com/ClickHouse/ClickHouse, ErrorCodes.cpp */
const NOT_ENOUGH_SPACE = 243
const toDayNumber = (at: number) => Math.floor(at / DAY_MS)

let server: ClickHouseServer
let directory: string
let url: string
let client: ClickHouseClient
let engine: HitEngine
const opened: HitEngine[] = []

beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hits-'))
  url = await server.takeDatabase()
  client = createClickHouseClient([url])
  engine = await open()
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
  await client.close()
  await server.dropDatabases()
  rmSync(directory, { recursive: true, force: true })
})

async function open(rollUpSettleMs = 0) {
  const another = await openClickHouse({ urls: [url], scratchDir: directory, rollUpSettleMs })
  opened.push(another)
  return another
}
const database = () => new URL(url).pathname.slice(1)

function writeBatch(number: number, hits: Hit[], node = 'a') {
  const path = join(directory, `${node}-${number}.ndjson`)
  writeFileSync(path, hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''))
  return { node, number, path }
}
async function load(hits: Hit[], node = 'a') {
  await engine.load(writeBatch((await engine.mark(node)) + 1, hits, node))
}

const COUNTRIES = ['DE', 'US', null, 'Unknown']
/** Hits of two workspaces on days from May 1 on: visitors that come back on a day, and some hits of nobody. */
const createHits = (days: number, from = MAY_1): Hit[] =>
  Array.from({ length: days * 24 }, (_, n) => {
    const at = from + n * (DAY_MS / 24) + (n % 7) * 1000
    const visitor = n % 11 === 0 ? '0' : String(toDayNumber(at) * 1000 + (n % 5) + 1)
    return createHit({
      at,
      workspaceId: 1 + (n % 2),
      linkId: 1 + (n % 3),
      visitor,
      class: n % 13 === 0 ? 'bot' : 'human',
      outcome: n % 9 === 0 ? 'landing' : 'redirect',
      country: COUNTRIES[n % 5] ?? null,
      referrer: n % 3 === 0 ? 'news.google.com' : null,
      utmCampaign: n % 4 === 0 ? `campaign ${n % 3}` : null,
      importId: n % 10 === 0 ? 7 : null,
    })
  })

const QUERIES: Partial<HitQuery>[] = [
  {},
  { outcomes: ['landing'] },
  { imported: true },
  { start: MAY_1 + DAY_MS / 2, end: MAY_1 + 3 * DAY_MS },
  { start: MAY_1, end: JUNE_1, groupBy: { by: 'linkId', limit: 10, nullAs: '' } },
  { groupBy: { by: 'country', limit: 10, nullAs: 'Unknown' } },
  { groupBy: { by: 'source', limit: 10, nullAs: '(direct)' } },
  { groupBy: { by: 'channel', limit: 10, nullAs: 'Unknown' } },
  { groupBy: { by: 'utmCampaign', limit: 10, nullAs: 'Unknown' } },
  { filters: [{ column: 'country', values: ['DE', 'US'], negate: false }] },
  { filters: [{ column: 'linkId', values: [1], negate: false }] },
  {
    start: MAY_1,
    end: MAY_1 + 5 * DAY_MS,
    groupBy: { by: 'time', starts: [0, 1, 2, 3, 4].map((day) => MAY_1 + day * DAY_MS - 2 * 3_600_000) },
  },
]

/** One question for each kind of sums: each takes a tenth of a second. */
const FEW_QUERIES: Partial<HitQuery>[] = [{}, ...QUERIES.slice(4, 7), { workspaceId: 2 }]

/** Asks a question, and does something else after it has read which roll-ups count, and before it reads them. */
async function explainBeside(query: HitQuery, meanwhile: () => Promise<unknown>, table = 'roll_days') {
  let isOver = false
  const beside: Pick<ClickHouseClient, 'select' | 'atOneServer'> = {
    select: client.select,
    atOneServer: (work, isRepeatable) =>
      client.atOneServer((here) => {
        const select: typeof here.select = async (sql, call) => {
          if (!isOver && sql.includes(`FROM ${table}`)) {
            isOver = true
            await meanwhile()
          }
          return here.select(sql, call)
        }
        return work({ ...here, select })
      }, isRepeatable),
  }
  const answer = await createQuestionRunner(beside).explain(query)
  expect(isOver).toBe(true)
  return answer
}

/** Expects every answer to be what the hits themselves answer. @returns from what kinds of roll-ups they come */
async function expectExact(queries = FEW_QUERIES): Promise<Set<string>> {
  const raw = createQuestionRunner({ select: client.select })
  const kinds = new Set<string>()
  for (const part of queries) {
    const query = createHitQuery(part)
    const [{ answers, origin }, counted] = await Promise.all([engine.explain(query), raw.ask(query)])
    expect(answers).toEqual(counted)
    for (const { from } of origin) kinds.add(from)
  }
  return kinds
}

async function rollAll(now = LATER, by = engine) {
  let waiting = 0
  for (let rolled = 1; rolled > 0; ) ({ rolled, waiting } = await by.rollUp(now))
  return waiting
}
const countValid = async () => {
  const { origin } = await engine.explain(createHitQuery({ start: MAY_1, end: LATER }))
  return origin.reduce(
    (days, { from, start, end }) => days + (from === 'hits' ? 0 : (end - start) / DAY_MS),
    0,
  )
}
const countMarks = async () => (await readValidRolls(client.select, RULES)).days.size
const list = async (sql: string) => (await server.query(sql, database())).trim().split('\n').filter(Boolean)

describe('closed days', () => {
  full('and their months answer every question as their hits do', async () => {
    await load([...createHits(3), ...createHits(2, JUNE_1 - 2 * DAY_MS)])
    expect(await expectExact(QUERIES)).toEqual(new Set(['hits']))
    expect(await rollAll()).toBe(0)
    expect(await expectExact(QUERIES)).toEqual(new Set(['hits', 'days', 'quarter_hours', 'months']))
    expect(await countValid()).toBe(31)
  })

  full('are rolled up a quarter of an hour after their end, and days without hits together', async () => {
    await load([...createHits(1), ...createHits(2, MAY_1 + 20 * DAY_MS)])
    const quarterPast = MAY_1 + 22 * DAY_MS + 15 * 60_000
    expect(await engine.rollUp(quarterPast - 1)).toEqual({ rolled: 21, waiting: 0 })
    expect(await engine.rollUp(quarterPast - 1)).toEqual({ rolled: 0, waiting: 0 })
    expect(await countValid()).toBe(21)
    expect(await engine.rollUp(quarterPast)).toEqual({ rolled: 1, waiting: 0 })
    expect(await countValid()).toBe(22)
    await expectExact()
  })
})

/** May 1 and 2 are closed, and no other day. */
const TWO_DAYS = MAY_1 + 2 * DAY_MS + 60 * 60_000

describe('hits that come late', () => {
  test('unmark their days alone, and are in the next roll-up', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    expect(await countValid()).toBe(2)
    await load(createHits(1))
    expect(await countValid()).toBe(1)
    await expectExact()
    await rollAll(TWO_DAYS)
    expect(await countValid()).toBe(2)
    await expectExact()
  })

  full('of open days record nothing', async () => {
    await load(createHits(1))
    await rollAll(MAY_1 + DAY_MS + 60 * 60_000)
    await load(createHits(1, MAY_1 + DAY_MS))
    expect(await list("SELECT day FROM roll_touches WHERE source = 'a'")).toEqual([])
    expect(await countValid()).toBe(1)
  })

  test('and are announced but not there yet keep their day from being rolled up', async () => {
    await load(createHits(1))
    await rollAll(TWO_DAYS)
    const late = writeBatch(2, createHits(1))
    await server.query(
      `INSERT INTO roll_touches VALUES (${toDayNumber(MAY_1)}, 'a', 2, 5, now64(3))`,
      database(),
    )
    expect(await countValid()).toBe(0)
    expect(await rollAll(TWO_DAYS)).toBe(1)
    await engine.load(late)
    expect(await rollAll(TWO_DAYS)).toBe(0)
    await expectExact()
  })

  full(
    'from a process that was stopped before it knew of roll-ups are recorded before they are confirmed',
    async () => {
      await load(createHits(1))
      const late = writeBatch(1, createHits(1), 'b')
      await changeHits(client, { source: 'b', number: 1 }, [toDayNumber(MAY_1)], async () => {
        await rollAll(TWO_DAYS)
        expect(await countValid()).toBe(1)
        await insertHits(client, late, 0, 'b/1')
      })
      expect(await countValid()).toBe(0)
      await expectExact()
      await engine.load(late)
      await rollAll(TWO_DAYS)
      await expectExact()
    },
  )

  full('from a node of the release before, which records nothing, unmark every day', async () => {
    await load(createHits(2))
    await client.execute("INSERT INTO hit_marks VALUES ('old', 7)")
    await rollAll(TWO_DAYS)
    expect(await countValid()).toBe(2)
    await insertHits(client, writeBatch(8, createHits(1), 'old'), 0, 'old/8')
    await client.execute("INSERT INTO hit_marks VALUES ('old', 8)")
    expect(await countValid()).toBe(0)
    await rollAll(TWO_DAYS)
    await expectExact()
    // The node is upgraded: from now on it records changes.
    await engine.load(writeBatch(9, createHits(1, MAY_1 + 5 * DAY_MS), 'old'))
    expect(await countValid()).toBe(2)
    await expectExact()
  })

  full('while the day is being rolled up are counted once', async () => {
    await load(createHits(2))
    const loads = async () => {
      for (let times = 0; times < 5; times++) await load(createHits(2))
    }
    await Promise.all([loads(), rollAll(TWO_DAYS, await open())])
    await rollAll(TWO_DAYS)
    expect(await countValid()).toBe(2)
    await expectExact()
  })
})

describe('the process that rolls up', () => {
  full('waits until it has known the intent, and the changes of a day, for some time', async () => {
    await load(createHits(1))
    const patient = await open(60_000)
    expect(await patient.rollUp(TWO_DAYS)).toEqual({ rolled: 0, waiting: 1 })
    // Another process has waited already.
    await rollAll(TWO_DAYS)
    await load(createHits(1))
    expect(await patient.rollUp(TWO_DAYS)).toEqual({ rolled: 0, waiting: 1 })
  })

  full('may run beside others: each day counts once', async () => {
    await load(createHits(3))
    const others = await Promise.all([open(), open()])
    await Promise.all([engine, ...others].map((each) => rollAll(MAY_1 + 4 * DAY_MS, each)))
    await rollAll(MAY_1 + 4 * DAY_MS)
    expect(await countValid()).toBe(3)
    await expectExact()
    // Two that rolled up the same day have both been right.
    await client.execute('INSERT INTO roll_marks SELECT * REPLACE (now64(3) AS made_at) FROM roll_marks')
    await expectExact()
  })

  test('that was killed before its mark leaves nothing that counts', async () => {
    await load(createHits(1))
    await server.cutAnswerAfter('INSERT INTO roll_values')
    await expect(rollAll(TWO_DAYS)).rejects.toThrow()
    expect(await list('SELECT count() FROM roll_links')).not.toEqual(['0'])
    await expectExact()
    await rollAll(TWO_DAYS)
    expect(await countValid()).toBe(1)
    await expectExact()
  })

  full('whose mark was stored without an answer has made what counts', async () => {
    await load(createHits(1))
    await server.cutAnswerAfter('INSERT INTO roll_marks')
    await rollAll(TWO_DAYS).catch(() => undefined)
    expect(await countValid()).toBeGreaterThan(0)
    await expectExact()
  })

  full('does not believe in a statement that has run twice', async () => {
    await load(createHits(1))
    await rollAll(MAY_1 + DAY_MS + 60 * 60_000)
    await client.execute('INSERT INTO roll_links SELECT * FROM roll_links')
    // A process that begins looks for damage.
    await (await open()).rollUp(MAY_1)
    expect(await countValid()).toBe(0)
    await rollAll(TWO_DAYS)
    await expectExact()
  })

  full(
    'finds no room on the disk, at whichever step: answers stay exact, and it goes on once there is room',
    async () => {
      await load([...createHits(1), ...createHits(1, JUNE_1)])
      const ofLoads = ['hits', 'hit_marks', 'roll_touches', 'roll_loaders']
      const steps = atScale({
        full: ['roll_intents', 'roll_steps', 'roll_values', 'roll_marks', 'roll_month_links', ...ofLoads],
        // The day of the intent is stored once.
        soak: ['roll_intents', ...new Set([...SUM_TABLES, ...BOOKKEEPING_TABLES, ...ofLoads])].filter(
          (table, n) => n === 0 || table !== 'roll_intents',
        ),
      })
      for (const [n, table] of steps.entries()) {
        const leave = (bytes: number) =>
          client.execute(
            `ALTER TABLE ${table} MODIFY SETTING min_free_disk_bytes_to_perform_insert = ${bytes}`,
          )
        // A node tells of itself before its first batch.
        const loadLate = () => load([...createHits(1), ...createHits(1, MAY_1 + (1 + n) * DAY_MS)], `n${n}`)
        await leave(2 ** 60)
        // ClickHouse refuses what it has no room for.
        const full = { code: NOT_ENOUGH_SPACE }
        if (ofLoads.includes(table)) await expect(loadLate()).rejects.toMatchObject(full)
        else {
          await loadLate()
          await expect(rollAll()).rejects.toMatchObject(full)
        }
        await expectExact()
        await leave(0)
        engine = await open()
        if (ofLoads.includes(table)) await loadLate()
      }
      expect(await rollAll()).toBe(0)
      expect(await countValid()).toBe(32)
      await expectExact()
    },
  )

  full('stays right with a clock that jumps a month ahead and back', async () => {
    await load(createHits(2))
    await rollAll(LATER)
    await load(createHits(1, MAY_1 + DAY_MS))
    await load(createHits(1, JUNE_1 - DAY_MS))
    await expectExact()
    await rollAll(TWO_DAYS)
    await load(createHits(2))
    await expectExact()
    await rollAll(TWO_DAYS)
    await expectExact()
  })
})

describe('what brings all hits again', () => {
  full('the batches, after the hits and their marks were lost, beside roll-ups that are there', async () => {
    const batches = [writeBatch(1, createHits(2)), writeBatch(2, createHits(3, MAY_1 + DAY_MS))]
    for (const batch of batches) await engine.load(batch)
    await rollAll()
    for (const table of ['hits', 'hit_marks']) await client.execute(`TRUNCATE TABLE ${table}`)
    engine = await open()
    for (const batch of batches) {
      await engine.load(batch)
      await rollAll(LATER, await open())
    }
    expect(await rollAll()).toBe(0)
    expect(await expectExact(QUERIES)).toEqual(new Set(['hits', 'days', 'quarter_hours']))
  })

  full('a move, whose days were rolled up after an earlier attempt, and that begins a day anew', async () => {
    const target = await openHitMoveTarget([url])
    const move = async (hits: Hit[], token: string) => {
      const { node, path } = writeBatch(1, hits, 'moved')
      await target.loadSlice({ node, path, token })
    }
    try {
      const closed = MAY_1 + 3 * DAY_MS + 60 * 60_000
      await move(createHits(3), 'a')
      await rollAll(closed)
      expect(await countValid()).toBe(3)
      await target.deleteDay(toDayNumber(MAY_1) + 1)
      expect(await countValid()).toBe(2)
      await expectExact()
      // Nobody else uses the database during a move. If a server does, the day counts as one without hits.
      await rollAll(closed)
      expect(await countValid()).toBe(3)
      await move(createHits(1, MAY_1 + DAY_MS), 'b')
      expect(await countValid()).toBe(2)
      await expectExact()
      await rollAll(closed)
      expect(await countValid()).toBe(3)
      await expectExact()
    } finally {
      await target.close()
    }
  })
})

describe('what deletes hits', () => {
  test('an undone import is in no answer, and other days stay rolled up', async () => {
    await load(createHits(3).map((hit) => (hit.at < MAY_1 + DAY_MS ? hit : { ...hit, importId: null })))
    await rollAll(MAY_1 + 4 * DAY_MS)
    await engine.deleteImported({ workspaceId: 1, importId: 7 })
    expect(await countValid()).toBe(2)
    await expectExact()
    await rollAll(MAY_1 + 4 * DAY_MS)
    expect(await countValid()).toBe(3)
    await expectExact()
  })

  test('retention keeps what is left right, and leaves no rows of days that are gone', async () => {
    await load([...createHits(2, MAY_1 - 2 * DAY_MS), ...createHits(3)])
    await rollAll(MAY_1 + 3 * DAY_MS + 60 * 60_000)
    await engine.deleteBefore(MAY_1 + DAY_MS + 5 * 60 * 60_000)
    await expectExact()
    expect(await countValid()).toBe(1)
    const countGone = async () =>
      (await list(`SELECT day FROM roll_links WHERE day < ${toDayNumber(MAY_1) + 1}`)).length
    // Another node may be marking other days of the month, so retention removes no sums.
    expect(await countGone()).toBeGreaterThan(0)
    await createSweeper({ everyMs: 0, graceMs: 0, longestMs: 0 }).runWhenDue(client)
    expect(await countGone()).toBe(0)
    expect(await list('SELECT DISTINCT day FROM roll_month_links')).toEqual([])
    expect(Number(await list('SELECT min(day) FROM roll_days'))).toBe(toDayNumber(MAY_1) + 2)
    await rollAll(MAY_1 + 3 * DAY_MS + 60 * 60_000)
    await expectExact()
  })

  test('an erasure leaves no row of the workspace, and the roll-ups of others count on', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    await engine.erase([1])
    for (const table of SUM_TABLES)
      expect(await list(`SELECT DISTINCT workspace_id FROM ${table}`)).not.toContain('1')
    expect(await countValid()).toBe(2)
    // Erased rows are no damage.
    await (await open()).rollUp(MAY_1)
    expect(await countValid()).toBe(2)
    await expectExact()
  })

  full('an erasure while a day is rolled up leaves no row of the workspace either', async () => {
    await load(createHits(2))
    await Promise.all([rollAll(TWO_DAYS, await open()), engine.erase([1])])
    await rollAll(TWO_DAYS)
    for (const table of SUM_TABLES)
      expect(await list(`SELECT DISTINCT workspace_id FROM ${table}`)).not.toContain('1')
    await expectExact()
  })
})

describe('a question that runs while rows of its roll-ups are removed', () => {
  const expectFromHits = async (query: HitQuery, meanwhile: () => Promise<unknown>, table: string) => {
    const { answers, origin } = await explainBeside(query, meanwhile, table)
    expect(answers).toEqual(await createQuestionRunner({ select: client.select }).ask(query))
    expect(new Set(origin.map(({ from }) => from))).toEqual(new Set(['hits']))
  }

  full('is answered from hits when the clock of ClickHouse has jumped ahead', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    const replaceRolls = async () => {
      await load(createHits(2))
      await rollAll(TWO_DAYS)
      await createSweeper({ everyMs: 0 }).runWhenDue(client)
      await client.execute(
        "ALTER TABLE roll_steps UPDATE made_at = made_at - INTERVAL 7 HOUR WHERE step = 'dropped' SETTINGS mutations_sync = 2",
      )
      await createSweeper({ everyMs: 0 }).runWhenDue(client)
      expect(await list('SELECT count() FROM roll_days')).toEqual(['4'])
    }
    await expectFromHits(createHitQuery({}), replaceRolls, 'roll_days')
  })

  full('is answered from hits when a damaged part is dropped', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    const dropPart = async () => {
      await damageTable(client, 'roll_people')
      expect(await repairRollUps(client, 0)).toBe(true)
    }
    const countries = createHitQuery({ groupBy: { by: 'country', limit: 10, nullAs: 'Unknown' } })
    await expectFromHits(countries, dropPart, 'roll_people')
  })

  full('is answered from roll-ups when other days change', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    const query = createHitQuery({ start: MAY_1, end: MAY_1 + DAY_MS })
    const { origin } = await explainBeside(query, () => load(createHits(1, MAY_1 + DAY_MS)))
    expect(origin).toEqual([expect.objectContaining({ from: 'days' })])
  })
})

describe('roll-ups that do not count', () => {
  full('by other rules are neither read nor kept from being made again', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    await client.execute("ALTER TABLE roll_marks UPDATE rules = 'older' WHERE 1 SETTINGS mutations_sync = 2")
    expect(await countValid()).toBe(0)
    await rollAll(TWO_DAYS)
    expect(await countValid()).toBe(2)
    await expectExact()
  })

  test('are dropped, and lose their rows when nobody reads them any more', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    await load(createHits(1))
    await rollAll(TWO_DAYS)
    const countRolls = async () => (await list('SELECT DISTINCT roll FROM roll_days')).length
    expect(await countRolls()).toBe(3)
    const patient = createSweeper({ everyMs: 0 })
    await patient.runWhenDue(client)
    await patient.runWhenDue(client)
    expect(await countRolls()).toBe(3)
    const sweeper = createSweeper({ everyMs: 0, graceMs: 0, longestMs: 0 })
    await sweeper.runWhenDue(client)
    expect(await countRolls()).toBe(2)
    expect(await countValid()).toBe(2)
    await expectExact()
  })

  test('because rows were lost are found, and made again', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    await client.execute(
      `ALTER TABLE roll_people DELETE WHERE day = ${toDayNumber(MAY_1)} SETTINGS mutations_sync = 2`,
    )
    const restarted = await open()
    await restarted.rollUp(MAY_1)
    expect(await countValid()).toBe(1)
    await rollAll(TWO_DAYS, restarted)
    expect(await countValid()).toBe(2)
    await expectExact()
  })

  full('because somebody else has deleted hits are found', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    await client.execute('ALTER TABLE hits DELETE WHERE link_id = 2 SETTINGS mutations_sync = 2')
    await rollAll(TWO_DAYS, await open())
    expect(await countValid()).toBe(2)
    await expectExact()
  })

  full('because their table is gone leave the answer to the hits, and are made again', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    await client.execute('DROP TABLE roll_marks SYNC')
    await client.execute('DROP TABLE roll_people SYNC')
    expect(await expectExact()).toEqual(new Set(['hits']))
    await rollAll(TWO_DAYS)
    expect(await countMarks()).toBe(2)
    engine = await open()
    await expectExact()
  })

  full('because a file of them is damaged leave the answer to the hits, and are made again', async () => {
    await load(createHits(2))
    await rollAll(TWO_DAYS)
    await damageTable(client, 'roll_people')
    await expectExact()
    await rollAll(TWO_DAYS)
    engine = await open()
    expect(await countMarks()).toBe(2)
    await expectExact()
  })
})
