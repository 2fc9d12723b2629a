// Hits are loaded and deleted whatever has happened to the tables of roll-ups, and no answer is wrong afterwards.

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
import { full } from '../../../../../tests/support/suite.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { HitEngine } from '../../hit-engine.ts'
import { type ClickHouseClient, createClickHouseClient } from '../client.ts'
import { openClickHouse } from '../engine.ts'
import { createQuestionRunner } from '../query.ts'

setDefaultTimeout(120_000)

const MAY_1 = Date.parse('2026-05-01T00:00:00Z')
/** May 1 is closed, and no other day. */
const NEXT_DAY = MAY_1 + DAY_MS + 60 * 60_000

let server: ClickHouseServer
let directory: string
let url: string
let client: ClickHouseClient
let engine: HitEngine
beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hits-'))
  url = await server.takeDatabase()
  client = createClickHouseClient([url])
  engine = await openClickHouse({ urls: [url], scratchDir: directory, rollUpSettleMs: 0 })
})
afterEach(async () => {
  await engine.close()
  await client.close()
  await server.dropDatabases()
  rmSync(directory, { recursive: true, force: true })
})

async function load(at: number) {
  const number = (await engine.mark('a')) + 1
  const path = join(directory, `${number}.ndjson`)
  const hits = [null, 7].map((importId) =>
    createHit({ at, workspaceId: 1, visitor: String(number), importId }),
  )
  writeFileSync(path, hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''))
  await engine.load({ node: 'a', number, path })
}
const QUERY = createHitQuery({ start: MAY_1, end: MAY_1 + 9 * DAY_MS, workspaceId: 1, imported: undefined })
/** @returns how many clicks there are, and whether roll-ups have said so */
async function ask() {
  const { answers, origin } = await engine.explain(QUERY)
  expect(answers).toEqual(await createQuestionRunner({ select: client.select }).ask(QUERY))
  return { clicks: answers[0]?.clicks, isRolled: origin.some(({ from }) => from !== 'hits') }
}
async function rollAll() {
  for (let { rolled } = await engine.rollUp(NEXT_DAY); rolled > 0; )
    ({ rolled } = await engine.rollUp(NEXT_DAY))
}

describe('hits of rolled up days', () => {
  full.each(['roll_intents', 'roll_touches', 'roll_loaders'])('are loaded without %s', async (table) => {
    await load(MAY_1)
    await rollAll()
    await load(MAY_1)
    await rollAll()
    await client.execute(`DROP TABLE ${table} SYNC`)
    await load(MAY_1)
    expect(await ask()).toEqual({ clicks: 6, isRolled: false })
    await rollAll()
    expect(await ask()).toEqual({ clicks: 6, isRolled: true })
  })

  test('are loaded when the table of intents is damaged', async () => {
    await load(MAY_1)
    await rollAll()
    await damageTable(client, 'roll_intents')
    await load(MAY_1)
    expect((await ask()).clicks).toBe(4)
    await rollAll()
    expect(await ask()).toEqual({ clicks: 4, isRolled: true })
  })

  full('are deleted without the tables of roll-ups', async () => {
    await load(MAY_1)
    await rollAll()
    for (const table of ['roll_touches', 'roll_steps', 'roll_days'])
      await client.execute(`DROP TABLE ${table} SYNC`)
    await engine.deleteImported({ workspaceId: 1, importId: 7 })
    expect(await ask()).toEqual({ clicks: 1, isRolled: false })
    await client.execute('DROP TABLE roll_month_people SYNC')
    await engine.erase([1])
    expect((await ask()).clicks).toBe(0)
  })
})

full('an erasure that meets a damaged table of sums ends after the next turn of the roller', async () => {
  await load(MAY_1)
  await rollAll()
  await damageTable(client, 'roll_people')
  await expect(engine.erase([1])).rejects.toThrow()
  await rollAll()
  await engine.erase([1])
  expect((await ask()).clicks).toBe(0)
})

full('a node that runs says again that it records changes, when the table was made anew', async () => {
  await load(MAY_1)
  await load(MAY_1)
  await client.execute("ALTER TABLE roll_loaders DROP PARTITION ID 'all'")
  await load(MAY_1)
  await rollAll()
  // Batches of an open day.
  await load(MAY_1 + DAY_MS)
  await load(MAY_1 + DAY_MS)
  expect(await ask()).toEqual({ clicks: 10, isRolled: true })
})
