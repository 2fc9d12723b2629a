// Which days are rolled up in ClickHouse and when: one day that has to wait, or that fails, keeps no other day waiting.

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
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { Hit } from '../../hit.ts'
import type { HitEngine } from '../../hit-engine.ts'
import { CLICKHOUSE_CODES, ClickHouseError } from '../clickhouse-error.ts'
import { type ClickHouseClient, createClickHouseClient } from '../client.ts'
import { deleteHitsBefore, deleteImportedHits } from '../delete.ts'
import { openClickHouse } from '../engine.ts'
import { restoreRollUpTables } from '../layout.ts'
import { createHitLoader } from '../load.ts'
import { createQuestionRunner } from '../query.ts'
import { RULES } from './roll-rules.ts'
import { readValidRolls } from './roll-state.ts'
import { createDayRoller, type DayRoller } from './roller.ts'
import { changeHits, createTouchSource } from './touches.ts'

setDefaultTimeout(120_000)

const MINUTE_MS = 60_000
const toDayNumber = (at: number) => Math.floor(at / DAY_MS)
const MAY_1 = Date.parse('2026-05-01T00:00:00Z')
const MAY_2 = MAY_1 + DAY_MS
const [FIRST, SECOND] = [toDayNumber(MAY_1), toDayNumber(MAY_2)]
/** May 1 and 2 are closed, and no other day. */
const TWO_DAYS = MAY_1 + 2 * DAY_MS + 60 * MINUTE_MS

let server: ClickHouseServer
let directory: string
let client: ClickHouseClient
let engine: HitEngine
/** How far the clock of durations has been moved on. */
let elapsedMs = 0

beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hits-'))
  const url = await server.createDatabase()
  client = createClickHouseClient([url])
  engine = await openClickHouse({ urls: [url], scratchDir: directory, rollUpSettleMs: 0 })
  elapsedMs = 0
  const now = performance.now.bind(performance)
  const clock = spyOn(performance, 'now').mockImplementation(() => now() + elapsedMs)
  ends.push(() => clock.mockRestore())
})
const ends: (() => void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) end()
  await engine.close()
  await client.close()
  rmSync(directory, { recursive: true, force: true })
})

const writeBatch = (number: number, hits: Hit[], node = 'a') => {
  const path = join(directory, `${node}-${number}.ndjson`)
  writeFileSync(path, hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''))
  return { node, number, path }
}
const load = async (hits: Hit[], node = 'a') =>
  engine.load(writeBatch((await engine.mark(node)) + 1, hits, node))
/** Two hits at noon, one of which is imported. */
const createHits = (...starts: number[]) =>
  starts.flatMap((start) =>
    [null, 7].map((importId) =>
      createHit({ at: start + DAY_MS / 2, workspaceId: 1, visitor: String(start), importId }),
    ),
  )
const listValid = async () => [...(await readValidRolls(client.select, RULES)).days.keys()].sort()
const select = async (sql: string) => (await client.select(sql)).map(([cell]) => cell)

async function expectExact() {
  const query = createHitQuery({
    start: MAY_1,
    end: MAY_1 + 90 * DAY_MS,
    workspaceId: 1,
    imported: undefined,
  })
  expect((await engine.explain(query)).answers).toEqual(
    await createQuestionRunner({ select: client.select }).ask(query),
  )
}

/** A roller that waits and rests as the server does. */
async function createPatientRoller(
  of: Pick<ClickHouseClient, 'atOneServer'> = client,
  now = TWO_DAYS,
): Promise<DayRoller> {
  const roller = createDayRoller(of)
  await roller.rollUp(now)
  elapsedMs += 6 * MINUTE_MS
  return roller
}

/** A client whose statements that fill sums fail for these days, as if they took too long. @returns also how often */
function createSlowClient(isSlow: (sql: string) => boolean) {
  const slow = {
    failures: 0,
    atOneServer: <T>(work: Parameters<ClickHouseClient['atOneServer']>[0], isRepeatable: boolean) =>
      client.atOneServer(
        ({ select: read, execute }) =>
          work({
            select: read,
            execute(sql, call) {
              if (!isSlow(sql)) return execute(sql, call)
              slow.failures++
              throw new ClickHouseError('Timeout exceeded', { code: CLICKHOUSE_CODES.timeout, status: 500 })
            },
          }),
        isRepeatable,
      ) as Promise<T>,
  }
  return slow
}
const SPAN = /intDiv\(recorded_at, \d+\) >= (\d+) AND intDiv\(recorded_at, \d+\) < (\d+)/
function sumsDay(sql: string, day: number): boolean {
  const [, start, end] = sql.startsWith('INSERT INTO roll_') ? (SPAN.exec(sql) ?? []) : []
  return Number(start) <= day && day < Number(end)
}

describe('a day', () => {
  test('whose batch never comes stays raw alone', async () => {
    await load(createHits(MAY_1, MAY_2))
    await client.execute(`INSERT INTO roll_touches VALUES (${FIRST}, 'gone', 3, 5, now64(3))`)
    expect(await engine.rollUp(TWO_DAYS)).toEqual({ rolled: 1, waiting: 1 })
    expect(await listValid()).toEqual([SECOND])
  })

  test('whose sums take too long keeps no other day waiting, and rests longer each time', async () => {
    const third = MAY_2 + DAY_MS
    await load(createHits(MAY_1, MAY_2, third))
    const slow = createSlowClient((sql) => sumsDay(sql, FIRST))
    const now = third + DAY_MS + 60 * MINUTE_MS
    const roller = await createPatientRoller(slow, now)
    // The days were summed together: which of them is to blame shows only when each is tried alone.
    await expect(roller.rollUp(now)).rejects.toThrow('Timeout exceeded')
    elapsedMs += 2 * MINUTE_MS
    expect(await roller.rollUp(now)).toEqual({ rolled: 0, waiting: 3 })
    elapsedMs += 10 * MINUTE_MS
    expect(await roller.rollUp(now)).toEqual({ rolled: 1, waiting: 2 })
    expect(await roller.rollUp(now)).toEqual({ rolled: 1, waiting: 1 })
    expect([slow.failures, await listValid()]).toEqual([2, [SECOND, SECOND + 1]])
    elapsedMs += 30 * MINUTE_MS
    expect(await roller.rollUp(now)).toEqual({ rolled: 0, waiting: 1 })
    elapsedMs += 31 * MINUTE_MS
    await expect(roller.rollUp(now)).rejects.toThrow('Timeout exceeded')
    expect(slow.failures).toBe(3)
  })

  test('is rolled up again after the table of touches was lost', async () => {
    await load(createHits(MAY_1))
    const roller = await createPatientRoller()
    await load(createHits(MAY_1))
    await roller.rollUp(TWO_DAYS)
    await client.execute("ALTER TABLE roll_touches DROP PARTITION ID 'all'")
    await roller.rollUp(TWO_DAYS)
    expect(await listValid()).toEqual([])
    elapsedMs += 6 * MINUTE_MS
    expect((await roller.rollUp(TWO_DAYS)).rolled).toBeGreaterThan(0)
    expect(await listValid()).toContain(FIRST)
  })
})

test('a month whose sums take too long keeps no later month waiting', async () => {
  const july = Date.parse('2026-07-01T00:00:00Z')
  await load(createHits(MAY_1, MAY_1 + 30 * DAY_MS, july - DAY_MS))
  const isMay = (sql: string) => sql.startsWith('INSERT INTO roll_month_') && sql.includes(`day >= ${FIRST} `)
  const roller = createDayRoller(createSlowClient(isMay), { settleMs: 0 })
  const roll = () => roller.rollUp(july + DAY_MS)
  for (let { rolled } = await roll(); rolled > 0; ) ({ rolled } = await roll().catch(() => ({ rolled: 0 })))
  expect([...(await readValidRolls(client.select, RULES)).months.keys()]).toEqual([
    toDayNumber(Date.parse('2026-06-01T00:00:00Z')),
  ])
})

test('the last 400 days come before older ones', async () => {
  const old = MAY_1 - 500 * DAY_MS
  await load(createHits(old, MAY_1))
  const isRolled = async (at: number) => (await listValid()).includes(toDayNumber(at))
  while (!(await isRolled(MAY_1))) expect((await engine.rollUp(TWO_DAYS)).rolled).toBeGreaterThan(0)
  expect(await isRolled(old)).toBe(false)
  for (let rolled = 1; rolled > 0; ) ({ rolled } = await engine.rollUp(TWO_DAYS))
  expect(await isRolled(old)).toBe(true)
  await expectExact()
})

describe('a deletion', () => {
  test.each([
    ['for a moment', 0],
    ['for an hour', 61 * MINUTE_MS],
  ])(
    'that was stopped %s before it began, and killed after it, leaves no roll-up that counts',
    async (_, stoppedMs) => {
      await load(createHits(MAY_1))
      const roller = createDayRoller(client, { settleMs: 0 })
      await roller.rollUp(TWO_DAYS)
      const deleting = changeHits(client, createTouchSource('delete'), [FIRST], async () => {
        await roller.rollUp(TWO_DAYS)
        elapsedMs += stoppedMs
        expect((await roller.rollUp(TWO_DAYS)).rolled).toBe(stoppedMs > 0 ? 1 : 0)
        await client.execute('ALTER TABLE hits DELETE WHERE import_id = 7 SETTINGS mutations_sync = 2')
        throw new Error('killed')
      })
      await expect(deleting).rejects.toThrow('killed')
      // The job repeats it, and finds no hits to delete.
      await engine.deleteImported({ workspaceId: 1, importId: 7 })
      await expectExact()
      expect(await roller.rollUp(TWO_DAYS)).toEqual({ rolled: 0, waiting: 1 })
      elapsedMs += 61 * MINUTE_MS
      expect(await roller.rollUp(TWO_DAYS)).toEqual({ rolled: 1, waiting: 0 })
      await expectExact()
    },
  )

  test('deletes no hit of a day that it has not touched', async () => {
    await load(createHits(MAY_1))
    let isLoaded = false
    const meanwhile: ClickHouseClient = {
      ...client,
      async execute(sql, call) {
        if (sql.startsWith('ALTER TABLE hits DELETE') && !isLoaded) {
          isLoaded = true
          await load(createHits(MAY_2), 'b')
          await engine.rollUp(TWO_DAYS)
          expect(await listValid()).toEqual([SECOND])
        }
        return client.execute(sql, call)
      },
    }
    await deleteImportedHits(meanwhile, { workspaceId: 1, importId: 7 })
    expect(await select('SELECT countIf(import_id = 7) FROM hits')).toEqual(['0'])
    await expectExact()
  })

  test('of a whole month unmarks days whose hits came while it ran', async () => {
    await load(createHits(MAY_1))
    let isLoaded = false
    const meanwhile: ClickHouseClient = {
      ...client,
      async execute(sql, call) {
        if (sql.includes('hits DROP PARTITION') && !isLoaded) {
          isLoaded = true
          await load(createHits(MAY_2), 'b')
          await engine.rollUp(TWO_DAYS)
        }
        return client.execute(sql, call)
      },
    }
    await deleteHitsBefore(meanwhile, Date.parse('2026-06-01T00:00:00Z'))
    expect(await select('SELECT count() FROM hits')).toEqual(['0'])
    expect(await listValid()).toEqual([])
    await expectExact()
  })
})

describe('when the table of touches is lost', () => {
  const loseTouches = async () => {
    await client.execute('DROP TABLE roll_touches SYNC')
    await restoreRollUpTables(client)
  }

  test('a roller that was stopped before its mark makes nothing count that lacks hits', async () => {
    await load(createHits(MAY_1))
    await engine.rollUp(MAY_2 + 20 * MINUTE_MS)
    await load(createHits(MAY_1))
    let isLost = false
    const roller = createDayRoller(
      {
        atOneServer: (work, isRepeatable) =>
          client.atOneServer((here) => {
            const execute: typeof here.execute = async (sql, call) => {
              if (!isLost && sql.startsWith('INSERT INTO roll_marks')) {
                isLost = true
                await load(createHits(MAY_1), 'b')
                await loseTouches()
              }
              return here.execute(sql, call)
            }
            return work({ ...here, execute })
          }, isRepeatable),
      },
      { settleMs: 0 },
    )
    await roller.rollUp(MAY_2 + 20 * MINUTE_MS)
    expect(isLost).toBe(true)
    await expectExact()
  })

  test('a batch that was stopped before its insert touches its days anew', async () => {
    await load(createHits(MAY_1))
    await engine.rollUp(MAY_2 + 20 * MINUTE_MS)
    let rolled = 0
    const insert: ClickHouseClient['insert'] = async (sql, data, call) => {
      await loseTouches()
      const roller = await createPatientRoller(client, MAY_2 + 20 * MINUTE_MS)
      rolled = (await roller.rollUp(MAY_2 + 20 * MINUTE_MS)).rolled
      return client.insert(sql, data, call)
    }
    await createHitLoader({ ...client, insert }).load(writeBatch(1, createHits(MAY_1), 'b'), 0)
    expect(rolled).toBe(1)
    await expectExact()
  })
})

describe('a clock that is ahead', () => {
  test('names no day of which hits still come', async () => {
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
    await load(createHits(today - 2 * DAY_MS))
    for (let times = 0; times < 2; times++) await engine.rollUp(today + 700 * DAY_MS)
    expect(await select('SELECT day FROM roll_intents')).toEqual([toDayNumber(today) - 1])
    await load(createHits(today))
    expect(await select('SELECT day FROM roll_touches')).toEqual([])
  })
})

describe('a replica that is behind', () => {
  test('confirms no batch while it may lack an intent', async () => {
    let isBehind = true
    const selectHere: ClickHouseClient['select'] = async (sql, call) => {
      if (sql.includes("engine LIKE 'Replicated%'")) return [[1]]
      if (!sql.includes('FROM system.replicas')) return client.select(sql, call)
      return [[isBehind && String(call?.params?.[0]).includes('roll_intents') ? 1 : 0]]
    }
    const replica: ClickHouseClient = {
      ...client,
      select: selectHere,
      atOneServer: (work) => work({ select: selectHere, execute: client.execute }),
    }
    const loader = createHitLoader(replica)
    const batch = writeBatch(1, createHits(MAY_1))
    await expect(loader.load(batch, 0)).rejects.toThrow('has not caught up')
    expect(await loader.mark('a')).toBe(0)
    isBehind = false
    await loader.load(batch, 0)
    expect(await select('SELECT count() FROM hits')).toEqual(['2'])
  })
})
