// The order and time of roll-ups in ClickHouse: a day that has to wait, or that fails, keeps no other day waiting.

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
import { createReplicaClient } from '../replica.fixture.ts'
import { changeHits, createChangeSource } from './day-changes.ts'
import { repairBookkeeping } from './repair.ts'
import { RULES } from './roll-rules.ts'
import { readValidRolls } from './roll-state.ts'
import { createDayRoller, type DayRoller } from './roller.ts'

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
  const url = await server.takeDatabase()
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
  await server.dropDatabases()
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
  const hits = createQuestionRunner({ select: client.select })
  for (const groupBy of [{ by: 'total' }, { by: 'country', limit: 10, nullAs: 'Unknown' }] as const) {
    const range = { start: MAY_1, end: MAY_1 + 90 * DAY_MS }
    const query = createHitQuery({ ...range, workspaceId: 1, imported: undefined, groupBy })
    expect((await engine.explain(query)).answers).toEqual(await hits.ask(query))
  }
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
  full('whose batch never comes stays raw alone', async () => {
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

  full('is rolled up again after the table of changes was lost', async () => {
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

full('a month whose sums take too long keeps no later month waiting', async () => {
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
      const deleting = changeHits(client, createChangeSource('delete', 'import-1-7'), [FIRST], async () => {
        await roller.rollUp(TWO_DAYS)
        elapsedMs += stoppedMs
        expect((await roller.rollUp(TWO_DAYS)).rolled).toBe(stoppedMs > 0 ? 1 : 0)
        await client.execute('ALTER TABLE hits DELETE WHERE import_id = 7 SETTINGS mutations_sync = 2')
        throw new Error('killed')
      })
      await expect(deleting).rejects.toThrow('killed')
      if (stoppedMs === 0) expect(await roller.rollUp(TWO_DAYS)).toEqual({ rolled: 0, waiting: 1 })
      // The job repeats it, and finds no hits to delete.
      await engine.deleteImported({ workspaceId: 1, importId: 7 })
      await expectExact()
      expect(await roller.rollUp(TWO_DAYS)).toEqual({ rolled: 1, waiting: 0 })
      await expectExact()
    },
  )

  test('deletes no hit of a day without a recorded change', async () => {
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

  full('that failed once, and was repeated, unmarks no day at a later deletion', async () => {
    await load(createHits(MAY_1))
    await engine.rollUp(TWO_DAYS)
    const failing: ClickHouseClient = {
      ...client,
      execute: (sql, call) =>
        sql.startsWith('ALTER TABLE hits DELETE')
          ? Promise.reject(new ClickHouseError('unfinished', { code: CLICKHOUSE_CODES.unfinished }))
          : client.execute(sql, call),
    }
    const undone = { workspaceId: 1, importId: 7 }
    await expect(deleteImportedHits(failing, undone)).rejects.toThrow('unfinished')
    await engine.deleteImported(undone)
    await engine.rollUp(TWO_DAYS)
    expect(await listValid()).toEqual([FIRST])
    await engine.deleteBefore(MAY_1 - 100 * DAY_MS)
    await engine.deleteImported(undone)
    await engine.deleteImported({ workspaceId: 1, importId: 8 })
    expect(await listValid()).toEqual([FIRST])
    await expectExact()
  })

  full('of a whole month unmarks days whose hits came while it ran', async () => {
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

/** A roller that is stopped once, before it stores marks, while something else happens. */
function createStoppedRoller(meanwhile: () => Promise<unknown>): DayRoller {
  let isOver = false
  return createDayRoller(
    {
      atOneServer: (work, isRepeatable) =>
        client.atOneServer((here) => {
          const execute: typeof here.execute = async (sql, call) => {
            if (!isOver && sql.startsWith('INSERT INTO roll_marks')) {
              isOver = true
              await meanwhile()
            }
            return here.execute(sql, call)
          }
          return work({ ...here, execute })
        }, isRepeatable),
    },
    { settleMs: 0 },
  )
}

describe('a roller that was stopped before its mark makes nothing count that lacks hits or sums', () => {
  const NEXT_DAY = MAY_2 + 20 * MINUTE_MS
  /** Drops or damages a table while a roller is stopped, and then goes on. */
  async function expectExactAfter(lose: () => Promise<unknown>) {
    await load(createHits(MAY_1))
    let isLost = false
    const roller = createStoppedRoller(async () => {
      await lose()
      isLost = true
    })
    for (let times = 0; times < 3; times++) await roller.rollUp(NEXT_DAY).catch(() => undefined)
    expect(isLost).toBe(true)
    await expectExact()
  }
  const drop = async (table: string) => {
    await client.execute(`DROP TABLE ${table} SYNC`)
    await restoreRollUpTables(client)
  }
  const loadLate = () => load(createHits(MAY_1), 'b')

  test('when the table of changes is lost', () =>
    expectExactAfter(async () => {
      await loadLate()
      await drop('roll_touches')
    }))

  full('when the table of intents is lost', () =>
    expectExactAfter(async () => {
      await drop('roll_intents')
      await loadLate()
    }),
  )

  full('when the table of intents is emptied by hand', () =>
    expectExactAfter(async () => {
      await client.execute('TRUNCATE TABLE roll_intents')
      await loadLate()
    }),
  )

  full('when the last intents are lost', () =>
    expectExactAfter(async () => {
      await client.execute('TRUNCATE TABLE roll_intents')
      await client.execute(`INSERT INTO roll_intents VALUES (${FIRST - 1}, now64(3))`)
      await loadLate()
    }),
  )

  full.each(['by a load', 'by a repair'])('when the table of intents is damaged, and emptied %s', (by) =>
    expectExactAfter(async () => {
      await damageTable(client, 'roll_intents')
      if (by === 'by a repair') expect(await repairBookkeeping(client)).toBe(true)
      await loadLate()
    }),
  )

  full('when the repair of changes is killed', () =>
    expectExactAfter(async () => {
      await loadLate()
      await damageTable(client, 'roll_touches')
      const execute: ClickHouseClient['execute'] = async (sql, call) => {
        if (sql.includes('INSERT INTO roll_touches')) throw new Error('killed')
        return client.execute(sql, call)
      }
      await repairBookkeeping({ ...client, execute }).catch(() => undefined)
    }),
  )

  full('when a table of sums is lost', () => expectExactAfter(() => drop('roll_people')))

  full('when the table of steps is lost, which said that the roll-up was dropped', () =>
    expectExactAfter(async () => {
      await client.execute('ALTER TABLE roll_people DELETE WHERE 1 SETTINGS mutations_sync = 2')
      await drop('roll_steps')
    }),
  )
})

full('a batch that was stopped before its insert, when the changes are lost, records them anew', async () => {
  const nextDay = MAY_2 + 20 * MINUTE_MS
  await load(createHits(MAY_1))
  await engine.rollUp(nextDay)
  let rolled = 0
  const insert: ClickHouseClient['insert'] = async (sql, data, call) => {
    await client.execute('DROP TABLE roll_touches SYNC')
    await restoreRollUpTables(client)
    const roller = await createPatientRoller(client, nextDay)
    rolled = (await roller.rollUp(nextDay)).rolled
    return client.insert(sql, data, call)
  }
  await createHitLoader({ ...client, insert }).load(writeBatch(1, createHits(MAY_1), 'b'), 0)
  expect(rolled).toBe(1)
  await expectExact()
})

test('whatever reads for roll-ups takes few threads, and ends', async () => {
  await load(createHits(MAY_1))
  const unlimited: string[] = []
  const roller = createDayRoller(
    {
      atOneServer: (work, isRepeatable) =>
        client.atOneServer((here) => {
          const select: typeof here.select = (sql, call) => {
            const { max_threads: threads, max_execution_time: seconds } = call?.settings ?? {}
            if (Number(threads) !== 2 || !(Number(seconds) > 0)) unlimited.push(sql)
            return here.select(sql, call)
          }
          return work({ ...here, select })
        }, isRepeatable),
    },
    { settleMs: 0 },
  )
  while ((await roller.rollUp(TWO_DAYS)).rolled);
  expect(unlimited).toEqual([])
})

describe('a clock that is ahead', () => {
  test('names no day of which hits still come', async () => {
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
    await load(createHits(today - 2 * DAY_MS))
    for (let times = 0; times < 2; times++) await engine.rollUp(today + 700 * DAY_MS)
    expect(await select('SELECT day FROM roll_intents')).toEqual([toDayNumber(today) - 1])
    await load(createHits(today))
    expect(await select("SELECT day FROM roll_touches WHERE source = 'a'")).toEqual([])
  })
})

describe('a replica that is behind', () => {
  test('confirms no batch while it may lack an intent', async () => {
    let isBehind = true
    const replica = createReplicaClient(client, (table) => isBehind && table === 'roll_intents')
    const loader = createHitLoader(replica)
    const batch = writeBatch(1, createHits(MAY_1))
    await expect(loader.load(batch, 0)).rejects.toThrow('has not caught up')
    expect(await loader.mark('a')).toBe(0)
    isBehind = false
    await loader.load(batch, 0)
    expect(await select('SELECT count() FROM hits')).toEqual(['2'])
  })
})
