// Removes hits from everything that the worker keeps, and checks that nothing brings them back.

import { afterEach, describe, expect, test } from 'bun:test'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWorkerHere } from '../../../../tests/support/server/worker-here.ts'
import { DEFAULT_BATCH_RETENTION } from '../batches/batch-retention.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import type { BatchClickCounts } from './click-count-receiver.ts'
import { type HitWorkerClient, openHitWorkerClient } from './client.ts'

const DAY = 24 * 60 * 60 * 1000
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function newDataDir() {
  const dir = await mkdtemp(join(tmpdir(), 'towpath-remove-'))
  closing.push(() => rm(dir, { recursive: true }))
  return dir
}

interface Started {
  dataDir: string
  spool: Spool
  hitWorker: HitWorkerClient
  stored: BatchClickCounts[]
  stop(): Promise<void>
}
interface Options {
  since?: number
  countedUpTo?: number
  /** With a small number the worker prunes batches, and so backs up the engine. */
  keepFiles?: number
  store?: () => Promise<void>
}

async function start(dataDir: string, options: Options = {}): Promise<Started> {
  const spool = await openSpool({ dir: join(dataDir, 'spool'), segmentBytes: 256 * 1024 })
  const stored: BatchClickCounts[] = []
  const hitWorker = openHitWorkerClient({
    startWorker: startWorkerHere,
    dataDir,
    spool,
    salts: [],
    ownHosts: [],
    countedUpTo: options.countedUpTo ?? 0,
    async storeCounts(counts) {
      await options.store?.()
      stored.push(counts)
    },
    shipEveryMs: 20,
    batchRetention: { ...DEFAULT_BATCH_RETENTION, files: options.keepFiles ?? 1e6 },
    pruneEveryMs: 50,
    since: options.since,
  })
  const stop = async () => {
    await hitWorker.close()
    await spool.close()
  }
  closing.push(stop)
  return { dataDir, spool, hitWorker, stored, stop }
}

/** One batch of clicks of a workspace. Each click is marked with the workspace. */
async function ship({ spool, hitWorker }: Started, workspaceId: number, count: number, at = Date.now()) {
  for (let i = 0; i < count; i++)
    spool.append(
      createRawHit({ at, workspaceId, linkId: workspaceId, query: `utm_source=marker-of-${workspaceId}` }),
    )
  await hitWorker.drain()
}

async function clicks({ hitWorker }: Started, workspaceId: number) {
  // The engine is opened again after an erasure.
  await until(() => hitWorker.state().engineUp)
  await hitWorker.drain()
  const query = { start: 0, end: Date.now() + DAY, classes: ['human' as const], filters: [] }
  const answer = await hitWorker.ask({ ...query, workspaceId, groupBy: { by: 'total' } })
  return answer[0]?.clicks
}

/** The files below a directory that contain the text. */
async function holding(dir: string, text: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  // The worker deletes batches meanwhile: a file that is gone holds nothing.
  const read = (file: string) => readFile(file).catch(() => Buffer.alloc(0))
  const held = await Promise.all(files.map(async (file) => (await read(file)).includes(text)))
  return files.filter((_, i) => held[i]).map((file) => file.slice(dir.length + 1))
}

async function until(met: () => unknown) {
  for (const end = Date.now() + 60_000; Date.now() < end; await Bun.sleep(10)) if (await met()) return
  throw new Error('did not happen within 60 s')
}
const exists = (dir: string, name: string) => readdir(dir).then((names) => names.includes(name))

/** Deletes the engine's file, or its backup too. */
async function loseEngine(dataDir: string, what: RegExp) {
  for (const name of await readdir(dataDir)) if (what.test(name)) await rm(join(dataDir, name))
}
const FILE = /^hits\.duckdb(\.wal)?$/
const ALL = /^hits\.duckdb/

describe('an erased workspace', () => {
  test('is in no file, and the other workspaces keep every click', async () => {
    const dataDir = await newDataDir()
    const started = await start(dataDir, { keepFiles: 5 })
    for (const workspaceId of [1, 2, 1, 2, 2, 1]) await ship(started, workspaceId, 10)
    await until(() => exists(dataDir, 'hits.duckdb.backup'))
    // Files that accidents leave behind.
    await writeFile(join(dataDir, 'hits.duckdb.corrupt-1'), 'marker-of-2')
    await writeFile(join(dataDir, 'spool', '1.seg.unreadable'), 'marker-of-2')
    const before = await holding(dataDir, 'marker-of-2')
    expect(before.some((file) => file.startsWith('batches/'))).toBe(true)
    expect(before).toContain('hits.duckdb.backup')

    await started.hitWorker.eraseHits([2])
    expect(await holding(dataDir, 'marker-of-2')).toEqual([])
    expect([await clicks(started, 1), await clicks(started, 2)]).toEqual([30, 0])
    await ship(started, 1, 5)
    expect(await clicks(started, 1)).toBe(35)
  })

  test.each([
    ['its backup and the batches', FILE],
    ['the batches alone', ALL],
  ])('is not brought back by a rebuild from %s', async (_, lost) => {
    const dataDir = await newDataDir()
    const first = await start(dataDir)
    for (const workspaceId of [1, 2, 1]) await ship(first, workspaceId, 10)
    await first.hitWorker.eraseHits([2])
    await first.stop()
    await loseEngine(dataDir, lost)
    const second = await start(dataDir, { countedUpTo: 3 })
    expect([await clicks(second, 1), await clicks(second, 2)]).toEqual([20, 0])
    await second.stop()
    expect(await holding(dataDir, 'marker-of-2')).toEqual([])
  })

  test('loses its raw hits in the spool too', async () => {
    const dataDir = await newDataDir()
    const started = await start(dataDir)
    await ship(started, 1, 1)
    for (let i = 0; i < 500; i++)
      started.spool.append(createRawHit({ workspaceId: 2, query: 'utm_source=marker-of-2' }))
    await started.hitWorker.eraseHits([2])
    expect(await clicks(started, 2)).toBe(0)
    expect(await holding(dataDir, 'marker-of-2')).toEqual([])
  })

  test('is erased from the batches of an earlier spool too', async () => {
    const dataDir = await newDataDir()
    const first = await start(dataDir)
    await ship(first, 2, 10)
    await ship(first, 1, 10)
    await first.stop()
    await rm(join(dataDir, 'spool'), { recursive: true })
    const second = await start(dataDir)
    expect(await clicks(second, 2)).toBe(10)
    await second.hitWorker.eraseHits([2])
    await second.stop()
    expect(await holding(dataDir, 'marker-of-2')).toEqual([])
    await loseEngine(dataDir, ALL)
    const third = await start(dataDir)
    expect([await clicks(third, 1), await clicks(third, 2)]).toEqual([10, 0])
  })

  test('can be erased again, and while there is no engine file', async () => {
    const dataDir = await newDataDir()
    const started = await start(dataDir)
    await ship(started, 1, 3)
    await Promise.all([started.hitWorker.eraseHits([2]), started.hitWorker.eraseHits([2, 3])])
    expect(await clicks(started, 1)).toBe(3)
  })
})

describe('hits past their retention', () => {
  const old = Date.now() - 40 * DAY
  const young = Date.now() - 5 * DAY
  const since = Date.now() - 30 * DAY

  test('are removed from engine, batches and backup, and stay on the counters', async () => {
    const dataDir = await newDataDir()
    const started = await start(dataDir, { keepFiles: 2 })
    await ship(started, 1, 10, old)
    await ship(started, 2, 10, young)
    await ship(started, 1, 7, young)
    await until(() => exists(dataDir, 'hits.duckdb.backup'))
    expect(await clicks(started, 1)).toBe(17)
    await started.hitWorker.pruneHits(since)
    expect([await clicks(started, 1), await clicks(started, 2)]).toEqual([7, 10])
    const counted = started.stored.flatMap(({ counts }) => counts).filter(([link]) => link === 1)
    expect(counted.reduce((sum, [, n]) => sum + n, 0)).toBe(17)
    expect(await holding(join(dataDir, 'batches'), String(old))).toEqual([])
    expect(await holding(join(dataDir, 'batches'), String(young))).not.toEqual([])
    await started.stop()

    const backup = await newDataDir()
    await cp(join(dataDir, 'hits.duckdb.backup'), join(backup, 'hits.duckdb'))
    const restored = await start(backup)
    expect([await clicks(restored, 1), await clicks(restored, 2)]).toEqual([7, 10])
  })

  test.each([
    ['with an older file', /never/],
    ['from an older backup and the batches', FILE],
    ['from the batches alone', ALL],
  ])('are removed after a start %s', async (_, lost) => {
    const dataDir = await newDataDir()
    const first = await start(dataDir, { keepFiles: lost === FILE ? 1 : 100 })
    await ship(first, 1, 10, old)
    await ship(first, 1, 3, young)
    if (lost === FILE) await until(() => exists(dataDir, 'hits.duckdb.backup'))
    await ship(first, 1, 10, old)
    await first.stop()
    await loseEngine(dataDir, lost)
    const second = await start(dataDir, { since, countedUpTo: 3 })
    expect(await clicks(second, 1)).toBe(3)
  })

  test('stay in their batch until the counters have them', async () => {
    const dataDir = await newDataDir()
    const away = Promise.withResolvers<void>()
    const started = await start(dataDir, { store: () => away.promise })
    for (let i = 0; i < 4; i++) started.spool.append(createRawHit({ at: old, workspaceId: 1, linkId: 9 }))
    await until(() => started.hitWorker.state().mark === 1)
    await started.hitWorker.pruneHits(since)
    expect(await holding(join(dataDir, 'batches'), String(old))).toHaveLength(1)
    away.resolve()
    await until(() => started.stored.length === 1)
    expect(started.stored[0]?.counts).toEqual([[9, 4, old]])
    await started.hitWorker.pruneHits(since)
    expect(await holding(join(dataDir, 'batches'), String(old))).toEqual([])
    expect(await clicks(started, 1)).toBe(0)
  })

  test('are not loaded when they arrive late', async () => {
    const started = await start(await newDataDir(), { since })
    await ship(started, 1, 4, since - 1)
    await ship(started, 1, 2, since + DAY)
    expect(await clicks(started, 1)).toBe(2)
  })
})
