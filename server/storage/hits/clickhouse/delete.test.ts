import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHit } from '../../../../tests/contracts/hit-engine.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import type { HitEngine } from '../hit-engine.ts'
import { openClickHouse } from './engine.ts'

let server: ClickHouseServer
let database: string
let directory: string
let engine: HitEngine
beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hits-'))
  const url = await server.takeDatabase()
  database = new URL(url).pathname.slice(1)
  engine = await openClickHouse({ urls: [url], scratchDir: directory })
})
afterEach(async () => {
  await engine.close()
  await server.dropDatabases()
  rmSync(directory, { recursive: true, force: true })
})

const load = async (times: string[], workspaceId = 1) => {
  const path = join(directory, 'batch.ndjson')
  const hits = times.map((time) => createHit({ at: Date.parse(time), workspaceId }))
  writeFileSync(path, hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''))
  await engine.load({ node: 'a', number: (await engine.mark('a')) + 1, path })
}
const list = async (sql: string) => (await server.query(sql, database)).trim().split('\n').filter(Boolean)
const listTimes = () =>
  list("SELECT toString(fromUnixTimestamp64Milli(recorded_at, 'UTC')) FROM hits ORDER BY recorded_at")
const countMutations = async () =>
  Number(await list(`SELECT count() FROM system.mutations WHERE database = '${database}'`))

describe('hits recorded before a moment', () => {
  test('are deleted to the millisecond: whole months at once, the rest by one mutation', async () => {
    await load(['1970-01-01T00:00:01Z', '2025-12-31T23:59:59.999Z', '2026-04-10T00:00:00Z'])
    await load(['2026-05-09T23:59:59.999Z', '2026-05-10T00:00:00Z', '2026-06-01T00:00:00Z'])
    await engine.deleteBefore(Date.parse('2026-05-10T00:00:00Z'))
    expect(await listTimes()).toEqual(['2026-05-10 00:00:00.000', '2026-06-01 00:00:00.000'])
    expect(await countMutations()).toBe(1)
    await engine.deleteBefore(Date.parse('2026-06-01T00:00:00Z'))
    expect(await listTimes()).toEqual(['2026-06-01 00:00:00.000'])
    // The month of May was one partition: nothing was rewritten.
    expect(await countMutations()).toBe(1)
    expect(await engine.mark('a')).toBe(2)
  })

  test('are deleted once: a second call does nothing', async () => {
    await load(['2026-05-01T00:00:00Z', '2026-05-20T00:00:00Z'])
    for (let times = 0; times < 3; times++) await engine.deleteBefore(Date.parse('2026-05-10T00:00:00Z'))
    expect(await countMutations()).toBe(1)
    await engine.deleteBefore(0)
    expect(await listTimes()).toHaveLength(1)
  })
})

describe('erased workspaces', () => {
  test('leave no row in any month, and a repeated erasure rewrites nothing', async () => {
    await load(['2026-04-10T00:00:00Z', '2026-05-10T00:00:00Z'], 7)
    await load(['2026-04-10T00:00:00Z', '2026-05-10T00:00:00Z'], 8)
    await engine.erase([7, 99])
    await engine.erase([7])
    await engine.erase([])
    expect(await list('SELECT DISTINCT workspace_id FROM hits')).toEqual(['8'])
    expect(await countMutations()).toBe(1)
    // Rows that are only marked as deleted would still be on the disk.
    expect(
      await list(
        `SELECT DISTINCT has_lightweight_delete FROM system.parts
         WHERE active AND table = 'hits' AND database = '${database}'`,
      ),
    ).toEqual(['0'])
  })

  test('many of them at once', async () => {
    await load(['2026-04-10T00:00:00Z'], 7)
    await load(['2026-04-10T00:00:00Z'], 50_000)
    await engine.erase(Array.from({ length: 20_000 }, (_, id) => id))
    expect(await list('SELECT workspace_id FROM hits')).toEqual(['50000'])
  })
})
