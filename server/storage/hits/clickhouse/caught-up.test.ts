// A replicated database counts clicks from its first one on, and rolls up days, although nobody has stored anything in most
// of its tables.

import { afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { full } from '../../../../tests/support/suite.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { ClickHouseError } from './clickhouse-error.ts'
import { type ClickHouseClient, createClickHouseClient } from './client.ts'
import { inspectClickHouse } from './inspect.ts'
import { migrateTables } from './layout.ts'
import { createHitLoader } from './load.ts'
import { openHitMoveTarget } from './move-target.ts'
import { createQuestionRunner } from './query.ts'
import { createReplicaClient } from './replica.fixture.ts'
import { SUM_TABLES } from './rollups/roll-tables.ts'
import { createDayRoller } from './rollups/roller.ts'
import { createSweeper } from './rollups/sweep.ts'

setDefaultTimeout(120_000)

const MAY_1 = Date.parse('2026-05-01T00:00:00Z')
const NEXT_DAY = MAY_1 + DAY_MS + 60 * 60_000
const QUERY = createHitQuery({ start: MAY_1, end: NEXT_DAY, workspaceId: 1 })

let server: ClickHouseServer
let directory: string
let url: string
let client: ClickHouseClient
beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hits-'))
  url = await server.createDatabase()
  client = createClickHouseClient([url])
  await migrateTables(client)
})
afterEach(async () => {
  await client.close()
  await server.dropDatabases()
  rmSync(directory, { recursive: true, force: true })
})

function writeBatch(number: number) {
  const path = join(directory, `${number}.ndjson`)
  writeFileSync(path, `${JSON.stringify(createHit({ at: MAY_1 + number, workspaceId: 1 }))}\n`)
  return { node: 'a', number, path }
}

test('a replicated database without clicks has no node, and may take those of another engine', async () => {
  await createDayRoller(createReplicaClient(client), { settleMs: 0 }).rollUp(NEXT_DAY)
  expect((await inspectClickHouse(client, false)).marks).toEqual({})
  const target = await openHitMoveTarget([url])
  expect(await target.isEmpty()).toBe(true)
  await target.close()
})

test('a replicated database loads its first batch and late ones, and rolls up their day', async () => {
  const replica = createReplicaClient(client)
  const loader = createHitLoader(replica)
  const roller = createDayRoller(replica, { settleMs: 0 })
  const runner = createQuestionRunner(replica)
  for (let number = 1; number <= 2; number++) {
    await loader.load(writeBatch(number), 0)
    for (let { rolled } = await roller.rollUp(NEXT_DAY); rolled > 0; )
      ({ rolled } = await roller.rollUp(NEXT_DAY))
    const { answers, origin } = await runner.explain(QUERY)
    expect(answers[0]?.clicks).toBe(number)
    expect(origin.map(({ from }) => from)).toContain('days')
  }
  // The first row of a table of sums is none of a roll-up that counts no more.
  await createSweeper({ graceMs: 0, longestMs: 0 }).runWhenDue(client)
  for (const table of SUM_TABLES)
    expect(await client.select(`SELECT count() FROM ${table} WHERE roll = 0`)).toEqual([['1']])
})

full(
  'a replica that lacks a change answers from hits, also after a moment without the table of hits',
  async () => {
    await createHitLoader(client).load(writeBatch(1), 0)
    const roller = createDayRoller(client, { settleMs: 0 })
    while ((await roller.rollUp(NEXT_DAY)).rolled);
    let isMissing = true
    const replica = createReplicaClient(client, (table) => table === 'roll_touches')
    const select: ClickHouseClient['select'] = async (sql, call) => {
      if (isMissing && sql.includes('FROM system.databases')) return [['Atomic']]
      if (isMissing && sql.includes('FROM hits'))
        throw new ClickHouseError('Unknown table hits', { code: 236 })
      return replica.select(sql, call)
    }
    const runner = createQuestionRunner({ select, atOneServer: (work) => work({ ...replica, select }) })
    await expect(runner.explain(QUERY)).rejects.toThrow('Unknown table')
    isMissing = false
    const { origin } = await runner.explain(QUERY)
    expect(new Set(origin.map(({ why }) => why))).toEqual(new Set(['unavailable', 'no_hits']))
  },
)

test('a ClickHouse whose servers share their tables rolls up nothing, and answers from hits', async () => {
  await createHitLoader(client).load(writeBatch(1), 0)
  const select: ClickHouseClient['select'] = async (sql, call) =>
    sql.includes('FROM system.databases') ? [['Shared'], ['SharedMergeTree']] : client.select(sql, call)
  const shared: ClickHouseClient = {
    ...client,
    select,
    atOneServer: (work) => work({ select, execute: client.execute }),
  }
  const roller = createDayRoller(shared, { settleMs: 0 })
  expect(await roller.rollUp(NEXT_DAY)).toEqual({ rolled: 0, waiting: 0 })
  while ((await createDayRoller(client, { settleMs: 0 }).rollUp(NEXT_DAY)).rolled);
  await createHitLoader(shared).load(writeBatch(2), 0)
  const { answers, origin } = await createQuestionRunner(shared).explain(QUERY)
  expect(answers[0]?.clicks).toBe(2)
  expect(new Set(origin.map(({ from }) => from))).toEqual(new Set(['hits']))
})

test('a replica that lacks the first row of a table is behind', async () => {
  const replica = createReplicaClient(client, (table) => table === 'roll_touches')
  await expect(createHitLoader(replica).load(writeBatch(1), 0)).rejects.toThrow('has not caught up')
})
