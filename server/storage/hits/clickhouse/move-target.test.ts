// Hits that move from DuckDB to ClickHouse are the same in both, whichever release has loaded them.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { openDuckDb } from '../duckdb/engine.ts'
import { openHitMoveSource } from '../duckdb/move-source.ts'
import { NO_VISITOR } from '../hit.ts'
import { findDayDifference } from '../hit-day.ts'
import { openClickHouse } from './engine.ts'
import { openHitMoveTarget } from './move-target.ts'

let server: ClickHouseServer
let directory: string
beforeAll(async () => {
  server = await getClickHouse()
  directory = mkdtempSync(join(tmpdir(), 'history-'))
}, CLICKHOUSE_START_MS)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const NOON = Date.parse('2026-06-10T12:00:00Z')
const DAY = 24 * 60 * 60 * 1000
const VISITORS = [NO_VISITOR, '1', '9223372036854775807', '9223372036854775808', '18446744073709551615']

/** A file whose first batch an earlier release has loaded: with the whole hash of each visitor, without the day. */
async function createFile(path: string): Promise<void> {
  const batch = join(directory, 'batch')
  const hits = [NOON, NOON + DAY].flatMap((at) => VISITORS.map((visitor) => createHit({ at, visitor })))
  for (const number of [1, 2]) {
    writeFileSync(batch, hits.map((hit) => `${JSON.stringify({ ...hit, at: hit.at + number })}\n`).join(''))
    const engine = await openDuckDb({ path, batchDir: directory })
    await engine.load({ node: 'a', number, path: batch })
    await engine.close()
    if (number > 1) return
    const instance = await DuckDBInstance.create(path)
    const connection = await instance.connect()
    for (const { id, visitor } of hits)
      await connection.run(`UPDATE hits_arrived SET visitor = ${visitor} WHERE id = ${id}`)
    connection.closeSync()
    instance.closeSync()
  }
}

test('a day that two releases have loaded moves without a difference', async () => {
  const path = join(directory, 'hits.duckdb')
  await createFile(path)
  const url = await server.takeDatabase()
  const history = await openHitMoveSource(path, join(directory, 'scratch'))
  const target = await openHitMoveTarget([url])
  const slicePath = join(directory, 'slice.ndjson')
  for (const { day, hits } of await history.listDays()) {
    expect(hits).toBe(2 * VISITORS.length)
    for (const slice of await history.planSlices(day)) {
      await history.writeSlice(slice, slicePath)
      await target.loadSlice({ node: slice.node, path: slicePath, token: `${day}/${slice.start}` })
    }
    const source = await history.readFigures(day)
    expect(source).toMatchObject([{ workspaceId: 1, hits: 10, clicks: 10 }])
    expect(findDayDifference(source, await target.readFigures(day))).toBeUndefined()
  }
  history.close()
  await target.close()
  const engine = await openClickHouse({ urls: [url], scratchDir: directory })
  // 2^63 - 1 and 2^64 - 1 have the same lower 48 bits.
  expect(await engine.ask(createHitQuery())).toEqual([{ key: null, clicks: 20, visitors: 6 }])
  await engine.close()
}, 240_000)
