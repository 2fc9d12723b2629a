// Damaged or lost roll-ups in ClickHouse change no answer, and what is whole is left alone.

import { afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
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
import { full } from '../../../../../tests/support/suite.ts'
import { log } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { HitEngine, HitQuery } from '../../hit-engine.ts'
import { ClickHouseError } from '../clickhouse-error.ts'
import { type ClickHouseClient, createClickHouseClient } from '../client.ts'
import { openClickHouse } from '../engine.ts'
import { createQuestionRunner } from '../query.ts'
import { createRolledExplainer } from './answer-rolled.ts'
import { createAudit } from './audit.ts'
import { repairRollUps } from './repair.ts'
import { RULES } from './roll-rules.ts'
import { readValidRolls } from './roll-state.ts'
import { createDayRoller } from './roller.ts'
import { createSweeper } from './sweep.ts'

setDefaultTimeout(120_000)

const MAY_1 = Date.parse('2026-05-01T00:00:00Z')
const FIRST = MAY_1 / DAY_MS
/** May 1 and 2 are closed, and no other day. */
const TWO_DAYS = MAY_1 + 2 * DAY_MS + 60 * 60_000

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

async function open() {
  const another = await openClickHouse({ urls: [url], scratchDir: directory, rollUpSettleMs: 0 })
  opened.push(another)
  return another
}

/** Loads hits of two workspaces on these days, and rolls up what is closed. */
async function loadDays(days: readonly number[], now = TWO_DAYS) {
  const hits = days.flatMap((day) =>
    Array.from({ length: 12 }, (_, n) =>
      createHit({
        at: day * DAY_MS + n * 3_600_000,
        workspaceId: 1 + (n % 2),
        linkId: 1 + (n % 3),
        visitor: String(day * 100 + (n % 4) + 1),
        country: n % 3 === 0 ? 'DE' : 'US',
      }),
    ),
  )
  const number = (await engine.mark('a')) + 1
  const path = join(directory, `${number}.ndjson`)
  writeFileSync(path, hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''))
  await engine.load({ node: 'a', number, path })
  await rollAll(now)
}
async function rollAll(now = TWO_DAYS, by = engine) {
  while ((await by.rollUp(now)).rolled);
}

const database = () => new URL(url).pathname.slice(1)
const list = async (sql: string) => (await server.query(sql, database())).trim().split('\n').filter(Boolean)
const countValid = async () => (await readValidRolls(client.select, RULES)).days.size

const QUERIES: Partial<HitQuery>[] = [
  {},
  { groupBy: { by: 'country', limit: 10, nullAs: 'Unknown' } },
  { filters: [{ column: 'linkId', values: [1], negate: false }] },
]
/** Expects each answer of a process that has just begun to be what the hits themselves answer. */
async function expectExact() {
  const raw = createQuestionRunner({ select: client.select })
  const fresh = await open()
  for (const part of QUERIES)
    for (const workspaceId of [1, 2]) {
      const query = createHitQuery({ ...part, workspaceId })
      expect((await fresh.explain(query)).answers).toEqual(await raw.ask(query))
    }
}

const MAY = [FIRST, FIRST + 1]
const update = (table: string, change: string) =>
  client.execute(`ALTER TABLE ${table} UPDATE ${change} SETTINGS mutations_sync = 2`)

describe('data that cannot be read', () => {
  full('are removed some time after their roll-ups have stopped to count', async () => {
    await loadDays(MAY)
    await damageTable(client, 'roll_people')
    const countRows = () => list('SELECT _part, count() FROM roll_people GROUP BY _part')
    const damaged = await countRows()
    expect(damaged).not.toEqual([])
    expect(await repairRollUps(client)).toBe(false)
    expect(await countValid()).toBe(0)
    expect(await countRows()).toEqual(damaged)
    await expectExact()
    // A later caller waits on, and changes nothing again.
    const touches = await list('SELECT count() FROM roll_touches')
    expect(await repairRollUps(client)).toBe(false)
    expect(await list('SELECT count() FROM roll_touches')).toEqual(touches)
    expect(await repairRollUps(client, 0)).toBe(true)
    expect(await countRows()).toEqual([])
    await rollAll()
    expect(await countValid()).toBe(2)
    await expectExact()
  })

  full('count no more when the process is killed while it removes them', async () => {
    await loadDays(MAY)
    await damageTable(client, 'roll_people')
    const audit = createAudit({ graceMs: 0 })
    audit.noteTrouble()
    await server.cutAnswerAfter('ALTER TABLE roll_people DROP')
    await expect(audit.runWhenDue(client)).rejects.toThrow()
    expect(await countValid()).toBe(0)
    await expectExact()
  })

  full('of recorded changes leave no mark that counts', async () => {
    await loadDays(MAY)
    await loadDays(MAY)
    await damageTable(client, 'roll_touches')
    expect(await repairRollUps(client)).toBe(true)
    expect(await countValid()).toBe(0)
    await rollAll()
    expect(await countValid()).toBe(2)
    await expectExact()
  })

  full('are found by a process that begins after the one that knew of them was killed', async () => {
    await loadDays(MAY)
    await damageTable(client, 'roll_people')
    await repairRollUps(client)
    await createAudit({ graceMs: 0 }).runWhenDue(client)
    expect(await list('SELECT count() FROM roll_people')).toEqual(['0'])
  })
})

full('marks are gone before a missing table is there again', async () => {
  await loadDays(MAY)
  await client.execute('DROP TABLE roll_people SYNC')
  await server.cutAnswerAfter('CREATE TABLE IF NOT EXISTS roll_people')
  await expect(repairRollUps(client)).rejects.toThrow()
  expect(await list('SELECT count() FROM roll_people')).toEqual(['0'])
  expect(await countValid()).toBe(0)
  await expectExact()
})

describe('the comparison', () => {
  const listDamaged = () => list("SELECT DISTINCT day FROM roll_touches WHERE source LIKE 'repair/%'")

  test('records a change of days that have lost rows, even if it fails afterwards', async () => {
    await loadDays(MAY)
    await client.execute(`ALTER TABLE roll_people DELETE WHERE day = ${FIRST} SETTINGS mutations_sync = 2`)
    await server.cutAnswerAfter('AS day, count() FROM hits')
    await expect(createAudit({ everyMs: 0 }).runWhenDue(client)).rejects.toThrow()
    expect(await listDamaged()).toEqual([String(FIRST)])
  })

  full('believes in another number of clicks when it has found it twice', async () => {
    await loadDays(MAY)
    await client.execute('ALTER TABLE hits DELETE WHERE link_id = 2 SETTINGS mutations_sync = 2')
    await createAudit({ everyMs: 0, confirmMs: 60_000 }).runWhenDue(client)
    expect(await listDamaged()).toEqual([])
    // It waits for deletions that run.
    await client.execute('SYSTEM STOP MERGES hits')
    await client.execute('ALTER TABLE hits DELETE WHERE link_id = 1 SETTINGS mutations_sync = 0')
    await createAudit({ everyMs: 0 }).runWhenDue(client)
    expect(await listDamaged()).toEqual([])
    await client.execute("KILL MUTATION WHERE database = currentDatabase() AND table = 'hits'")
    await client.execute('SYSTEM START MERGES hits')
    await createAudit({ everyMs: 0 }).runWhenDue(client)
    expect((await listDamaged()).sort()).toEqual(MAY.map(String))
  })

  full('of a month that takes too long keeps neither other months nor roll-ups waiting', async () => {
    const months = [0, 31, 61].map((days) => FIRST + days)
    const now = (FIRST + 63) * DAY_MS
    await loadDays(months, now)
    await update('roll_steps', "made_at = now64(3) - INTERVAL 2 HOUR WHERE step = 'audited'")
    await client.execute(
      `ALTER TABLE roll_people DELETE WHERE day = ${months[2]} SETTINGS mutations_sync = 2`,
    )
    let failures = 0
    const roller = createDayRoller(
      {
        atOneServer: (work, isRepeatable) =>
          client.atOneServer((here) => {
            const select: typeof here.select = async (sql, call) => {
              if (!sql.includes(`day < ${months[1]}`) && !sql.includes(`day < ${months[2]}`))
                return here.select(sql, call)
              if (!sql.includes("'erased'")) return here.select(sql, call)
              failures++
              throw new ClickHouseError('Timeout exceeded', { code: 159 })
            }
            return work({ ...here, select })
          }, isRepeatable),
      },
      { settleMs: 0 },
    )
    for (let isComparing: boolean | undefined = true; isComparing; )
      ({ isComparing } = await roller.rollUp(now))
    expect(failures).toBe(2)
    expect(await listDamaged()).toEqual([String(months[2])])
  })

  full('is made by one process for all, every hour and after trouble', async () => {
    await loadDays(MAY)
    const countAudits = () => list("SELECT count() FROM roll_steps WHERE step = 'audited'")
    const audits = [createAudit(), createAudit()]
    for (const audit of audits) await audit.runWhenDue(client)
    expect(await countAudits()).toEqual(['1'])
    // Trouble that goes on is no reason to look without end.
    for (let times = 0; times < 3; times++) {
      audits[1]?.noteTrouble()
      await audits[1]?.runWhenDue(client)
    }
    expect(await countAudits()).toEqual(['2'])
  })

  full('takes no erasure for damage: one that was killed and repeated, or runs at two nodes', async () => {
    await loadDays(MAY)
    const audit = createAudit({ everyMs: 0, confirmMs: 60_000 })
    await server.cutAnswerAfter("'erased'")
    await expect(engine.erase([1])).rejects.toThrow()
    await audit.runWhenDue(client)
    await Promise.all([engine.erase([1]), (await open()).erase([1])])
    await audit.runWhenDue(client)
    await createAudit({ everyMs: 0 }).runWhenDue(client)
    expect(await listDamaged()).toEqual([])
    expect(await countValid()).toBe(2)
    await expectExact()
  })
})

describe('rows of roll-ups that count no more', () => {
  const countRolls = async () => (await list('SELECT DISTINCT roll FROM roll_days')).length
  const sweepNow = () => createSweeper({ graceMs: 0, longestMs: 0 }).runWhenDue(client)

  full('rest for a day when another release has made them', async () => {
    await loadDays(MAY)
    await update('roll_marks', "rules = 'older', made_at = now64(3) - INTERVAL 3 DAY WHERE 1")
    await sweepNow()
    await rollAll()
    await sweepNow()
    expect(await countRolls()).toBe(4)
    await update('roll_marks', "made_at = now64(3) - INTERVAL 2 DAY WHERE rules != 'older'")
    await sweepNow()
    expect(await countRolls()).toBe(2)
    expect(await countValid()).toBe(2)
  })

  full('go when they were dropped long ago, also in a process that has just begun', async () => {
    await loadDays(MAY)
    await loadDays(MAY)
    await createSweeper().runWhenDue(client)
    expect(await countRolls()).toBe(4)
    await update('roll_steps', "made_at = now64(3) - INTERVAL 7 HOUR WHERE step = 'dropped'")
    await createSweeper().runWhenDue(client)
    expect(await countRolls()).toBe(2)
  })
})

describe('a question', () => {
  full('with very many values, or on very many scattered days, is answered', async () => {
    const days = 1500
    await loadDays([FIRST - days, FIRST], TWO_DAYS - DAY_MS)
    const range = { start: (FIRST - days) * DAY_MS, end: TWO_DAYS }
    const raw = createQuestionRunner({ select: client.select })
    const values = Array.from({ length: 3000 }, (_, n) => `${'x'.repeat(100)}${n}`)
    const long = createHitQuery({
      ...range,
      groupBy: { by: 'country', limit: 10, nullAs: 'Unknown' },
      filters: [{ column: 'country', values: ['DE', ...values], negate: false }],
    })
    const answer = await engine.explain(long)
    expect(answer.origin.some(({ from }) => from === 'days')).toBe(true)
    expect(answer.answers).toEqual(await raw.ask(long))
    await client.execute(
      `INSERT INTO roll_mixed (workspace_id, day, name, roll)
       SELECT 1, day, 101, roll FROM roll_marks WHERE day % 3 = 0 AND day > ${FIRST - days} AND day < ${FIRST}`,
    )
    const scattered = await engine.explain(long)
    expect(scattered.origin[0]).toMatchObject({ start: range.start, from: 'hits', why: 'scattered' })
    expect(scattered.origin.slice(1).map(({ why }) => why)).toEqual(['no_hits'])
    expect(scattered.answers).toEqual(await raw.ask(long))
  })

  test('is left to the hits when only its statement is refused, and fails when they would fail, too', async () => {
    let code: number | undefined
    let troubles = 0
    let reads = 0
    const explain = createRolledExplainer(
      async () => {
        reads++
        throw new ClickHouseError('refused', { code })
      },
      () => troubles++,
    )
    // A server that is away, a timeout, a quota, too many statements, a canceled one.
    for (code of [undefined, 159, 201, 202, 394]) await expect(explain(createHitQuery({}))).rejects.toThrow()
    // Too many fields of a form, a statement that is too long, too many open files, a broken connection.
    const warn = spyOn(log, 'warn').mockImplementation(() => undefined)
    for (code of [1000, 62, 168, 76, 210, 236]) expect(await explain(createHitQuery({}))).toBe('unavailable')
    // Each question of an hour may meet the same.
    expect(warn).toHaveBeenCalledTimes(1)
    warn.mockRestore()
    expect({ reads, troubles }).toEqual({ reads: 11, troubles: 0 })
    code = 40
    expect(await explain(createHitQuery({}))).toBe('unavailable')
    expect(await explain(createHitQuery({}))).toBe('unavailable')
    expect({ reads, troubles }).toEqual({ reads: 12, troubles: 1 })
  })
})
