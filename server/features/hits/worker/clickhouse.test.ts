// The hit worker with ClickHouse: what happens to hits while the server is away, and what an erasure leaves.

import { afterEach, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { full, quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { readZstdFrames } from '../../../lib/formats/zstd-frames.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import {
  askClicks,
  closeTestWorkers,
  createTestDataDir,
  openTestHitWorker,
  sumCounts,
  type TestHitWorker,
  type TestHitWorkerOptions,
  toTotalQuery,
} from './worker.fixture.ts'

setDefaultTimeout(120_000)

const DAY = 24 * 60 * 60 * 1000
const NOW = Date.UTC(2026, 5, 15)
let server: ClickHouseServer
beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
afterEach(async () => {
  await server.start()
  await closeTestWorkers()
})

const open = (url: string | undefined, options: TestHitWorkerOptions = {}) =>
  openTestHitWorker({ ...options, clickHouseUrls: url === undefined ? undefined : [url] })

/** Records clicks of a workspace, which make a batch of their own. */
async function click({ spool, hitWorker }: TestHitWorker, count: number, workspaceId = 1, at = NOW) {
  for (let i = 0; i < count; i++)
    spool.append(createRawHit({ at, workspaceId, linkId: 1, query: `utm_source=marker-of-${workspaceId}` }))
  await hitWorker.drain()
}

const toSums = ({ stored }: TestHitWorker) => stored.map((batch) => sumCounts([batch]))

const untilLoaded = ({ hitWorker, spool }: TestHitWorker) =>
  until('everything is loaded', async () => {
    await hitWorker.drain()
    const { engineUp, batch, mark, waiting } = hitWorker.state()
    return engineUp && mark === batch && waiting.batches === 0 && spool.stats().waiting === 0
  })

async function listBatchFiles(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'batches'), { recursive: true })
  return names.filter((name) => /ndjson/.test(name))
}

quick(
  'while the server is away hits wait as batches, then in the spool, and each counts once afterwards',
  async () => {
    const node = await open(await server.createDatabase(), { batchBytesMax: 2500 })
    await click(node, 10)
    expect(await askClicks(node)).toBe(10)
    await server.kill()
    await until('the worker notices', async () => {
      await node.hitWorker.ask(toTotalQuery()).catch(() => undefined)
      return !node.hitWorker.state().engineUp
    })
    await expect(node.hitWorker.ask(toTotalQuery())).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Analytics are temporarily unavailable. Clicks are still recorded.',
      detail: { retryAfter: 1 },
    })
    const before = node.hitWorker.countedUntil()
    for (let batch = 0; batch < 12; batch++) await click(node, 50)
    const { waiting, bytesMax, engineUp } = node.hitWorker.state()
    expect([engineUp, bytesMax]).toEqual([false, 2500])
    // The last batch may go over the bound, and later hits stay in the spool.
    expect(waiting.bytes).toBeGreaterThan(1500)
    expect(waiting.batches).toBeLessThan(12)
    expect(node.hitWorker.countedUntil()).toBeLessThanOrEqual(before)
    expect(node.spool.stats().dropped).toBe(0)

    await server.start()
    await untilLoaded(node)
    expect(await askClicks(node)).toBe(610)
    expect(sumCounts(node.stored)).toBe(610)
    expect(node.hitWorker.countedUntil()).toBeGreaterThan(before)
  },
)

full(
  'a server that starts while ClickHouse is away goes on with its batches, and loads all of them once',
  async () => {
    const url = await server.createDatabase()
    const dataDir = createTestDataDir()
    const first = await open(url, { dataDir })
    await click(first, 5)
    await click(first, 6)
    await untilLoaded(first)
    await first.stop()
    await server.kill()
    const second = await open(url, { dataDir, countedUpTo: 2 })
    await click(second, 7)
    await second.stop()
    const third = await open(url, { dataDir, countedUpTo: 3 })
    await click(third, 8)
    await server.start()
    await untilLoaded(third)
    expect(await askClicks(third)).toBe(26)
    expect([toSums(first), toSums(second), toSums(third)]).toEqual([[5, 6], [7], [8]])
  },
)

full.each([
  [
    'bytes in its middle',
    (bytes: Buffer) => Buffer.from(bytes).fill(7, bytes.length >> 1, (bytes.length >> 1) + 20),
  ],
  ['its end', (bytes: Buffer) => bytes.subarray(0, bytes.length - 9)],
])('a batch that lost %s while it waited is set aside, and the others load', async (_, damage) => {
  const url = await server.createDatabase()
  const node = await open(url)
  await click(node, 5)
  await untilLoaded(node)
  await server.kill()
  await click(node, 6)
  await click(node, 7)
  const [, second = ''] = (await listBatchFiles(node.dataDir)).sort()
  expect(second).toEndWith('.ndjson.zst')
  const path = join(node.dataDir, 'batches', second)
  await writeFile(path, damage(await readFile(path)))
  await server.start()
  await untilLoaded(node)
  expect(await askClicks(node)).toBe(12)
  expect(node.hitWorker.state().lost.batches).toBe(1)
  expect(await readdir(join(node.dataDir, 'batches', node.spool.node))).toContain(
    `${basename(path)}.unreadable`,
  )
  await click(node, 3)
  await untilLoaded(node)
  expect(await askClicks(node)).toBe(15)
})

full('batches of a server that had DuckDB are loaded too', async () => {
  const dataDir = createTestDataDir()
  const first = await open(undefined, { dataDir })
  await click(first, 5)
  await first.stop()
  const [name = ''] = await listBatchFiles(dataDir)
  expect(name).toEndWith('.ndjson')
  const second = await open(await server.createDatabase(), { dataDir, countedUpTo: 1 })
  await click(second, 6)
  await untilLoaded(second)
  expect(await askClicks(second)).toBe(11)
})

full('a batch whose answer was lost counts once', async () => {
  const node = await open(await server.createDatabase())
  await click(node, 5)
  await server.cutAnswerAfter('INSERT INTO hits')
  await click(node, 6)
  await untilLoaded(node)
  await click(node, 7)
  await untilLoaded(node)
  expect(await askClicks(node)).toBe(18)
})

full('erases a workspace from the server, the batches and the spool while questions go on', async () => {
  const url = await server.createDatabase()
  const node = await open(url)
  for (const workspaceId of [1, 2, 1, 2]) await click(node, 10, workspaceId)
  await untilLoaded(node)
  for (let i = 0; i < 10; i++)
    node.spool.append(createRawHit({ workspaceId: 2, query: 'utm_source=marker-of-2' }))
  let erased = false
  const erasing = node.hitWorker.eraseHits([2]).finally(() => {
    erased = true
  })
  let answers = 0
  do {
    expect(await askClicks(node)).toBe(20)
    answers++
  } while (!erased)
  await erasing
  expect(answers).toBeGreaterThan(0)
  expect([await askClicks(node), await askClicks(node, 2)]).toEqual([20, 0])
  const files = (await listBatchFiles(node.dataDir)).map((name) => join(node.dataDir, 'batches', name))
  for (const path of files)
    expect(Buffer.concat([...readZstdFrames(await readFile(path))]).includes('marker-of-2')).toBe(false)
  expect(files.length).toBeGreaterThan(3)
  // A batch that was rewritten is still the batch that was loaded.
  await click(node, 3)
  await untilLoaded(node)
  expect(await askClicks(node)).toBe(23)
})

full('an erasure while the server is away fails as unavailable, and can be done afterwards', async () => {
  const node = await open(await server.createDatabase())
  await click(node, 10, 2)
  await untilLoaded(node)
  await server.kill()
  await click(node, 10, 2)
  await expect(node.hitWorker.eraseHits([2])).rejects.toMatchObject({ code: 'unavailable' })
  await server.start()
  await untilLoaded(node)
  await node.hitWorker.eraseHits([2])
  expect(await askClicks(node, 2)).toBe(0)
})

full('deletes hits past their retention, and batches that the server holds, without a backup', async () => {
  const dataDir = createTestDataDir()
  const node = await open(await server.createDatabase(), { dataDir, keepFiles: 4 })
  await click(node, 5, 1, NOW - 70 * DAY)
  await click(node, 6, 1, NOW - 3 * DAY)
  await untilLoaded(node)
  await node.hitWorker.pruneHits(NOW - 30 * DAY)
  expect(await askClicks(node)).toBe(6)
  for (let batch = 0; batch < 8; batch++) await click(node, 1)
  await untilLoaded(node)
  await until('batches are deleted', async () => (await listBatchFiles(dataDir)).length <= 4)
  expect(await askClicks(node)).toBe(14)
  expect((await readdir(dataDir)).filter((name) => name.startsWith('hits.duckdb'))).toEqual([])
})
