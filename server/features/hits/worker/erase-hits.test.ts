// Removes hits from everything that the worker keeps, and checks that nothing brings them back.

import { afterEach, describe, expect, test } from 'bun:test'
import { cp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { atScale, quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import {
  askSettledClicks,
  closeTestWorkers,
  createTestDataDir,
  listFilesWith,
  openTestHitWorker,
  type TestHitWorker,
} from './worker.fixture.ts'

const DAY = 24 * 60 * 60 * 1000
const NOW = Date.UTC(2026, 5, 15)
afterEach(closeTestWorkers)

/** One batch of clicks of a workspace. Each click is marked with the workspace. */
async function ship({ spool, hitWorker }: TestHitWorker, workspaceId: number, count: number, at = NOW) {
  for (let i = 0; i < count; i++)
    spool.append(
      createRawHit({ at, workspaceId, linkId: workspaceId, query: `utm_source=marker-of-${workspaceId}` }),
    )
  await hitWorker.drain()
}

const exists = (dir: string, name: string) => readdir(dir).then((names) => names.includes(name))

/** Deletes the engine's file, or its backup too. */
async function loseEngine(dataDir: string, what: RegExp) {
  for (const name of await readdir(dataDir)) if (what.test(name)) await rm(join(dataDir, name))
}
const FILE = /^hits\.duckdb(\.wal)?$/
const ALL = /^hits\.duckdb/

describe('an erased workspace', () => {
  quick('is in no file, and the other workspaces keep every click', async () => {
    const dataDir = createTestDataDir()
    const started = await openTestHitWorker({ dataDir, keepFiles: 5 })
    for (const workspaceId of [1, 2, 1, 2, 2, 1]) await ship(started, workspaceId, 10)
    await until('there is a backup', () => exists(dataDir, 'hits.duckdb.backup'))
    // Files that accidents leave behind.
    await writeFile(join(dataDir, 'hits.duckdb.corrupt-1'), 'marker-of-2')
    await writeFile(join(dataDir, 'spool', '1.seg.unreadable'), 'marker-of-2')
    const before = await listFilesWith(dataDir, 'marker-of-2')
    expect(before.some((file) => file.startsWith('batches/'))).toBe(true)
    expect(before).toContain('hits.duckdb.backup')

    await started.hitWorker.eraseHits([2])
    expect(await listFilesWith(dataDir, 'marker-of-2')).toEqual([])
    expect([await askSettledClicks(started, 1), await askSettledClicks(started, 2)]).toEqual([30, 0])
    await ship(started, 1, 5)
    expect(await askSettledClicks(started, 1)).toBe(35)
  })

  test.each([
    ['its backup and the batches', FILE],
    ['the batches alone', ALL],
  ])('is not brought back by a rebuild from %s', async (_, lost) => {
    const dataDir = createTestDataDir()
    const first = await openTestHitWorker({ dataDir })
    for (const workspaceId of [1, 2, 1]) await ship(first, workspaceId, 10)
    await first.hitWorker.eraseHits([2])
    await first.stop()
    await loseEngine(dataDir, lost)
    const second = await openTestHitWorker({ dataDir, countedUpTo: 3 })
    expect([await askSettledClicks(second, 1), await askSettledClicks(second, 2)]).toEqual([20, 0])
    await second.stop()
    expect(await listFilesWith(dataDir, 'marker-of-2')).toEqual([])
  })

  test('loses its raw hits in the spool too', async () => {
    const dataDir = createTestDataDir()
    const started = await openTestHitWorker({ dataDir })
    await ship(started, 1, 1)
    for (let i = 0; i < 500; i++)
      started.spool.append(createRawHit({ workspaceId: 2, query: 'utm_source=marker-of-2' }))
    await started.hitWorker.eraseHits([2])
    expect(await askSettledClicks(started, 2)).toBe(0)
    expect(await listFilesWith(dataDir, 'marker-of-2')).toEqual([])
  })

  test('is erased from the batches of an earlier spool too', async () => {
    const dataDir = createTestDataDir()
    const first = await openTestHitWorker({ dataDir })
    await ship(first, 2, 10)
    await ship(first, 1, 10)
    await first.stop()
    await rm(join(dataDir, 'spool'), { recursive: true })
    const second = await openTestHitWorker({ dataDir })
    expect(await askSettledClicks(second, 2)).toBe(10)
    await second.hitWorker.eraseHits([2])
    await second.stop()
    expect(await listFilesWith(dataDir, 'marker-of-2')).toEqual([])
    await loseEngine(dataDir, ALL)
    const third = await openTestHitWorker({ dataDir })
    expect([await askSettledClicks(third, 1), await askSettledClicks(third, 2)]).toEqual([10, 0])
  })

  test('can be erased again, and while there is no engine file', async () => {
    const dataDir = createTestDataDir()
    const started = await openTestHitWorker({ dataDir })
    await ship(started, 1, 3)
    await Promise.all([started.hitWorker.eraseHits([2]), started.hitWorker.eraseHits([2, 3])])
    expect(await askSettledClicks(started, 1)).toBe(3)
  })
})

describe('hits past their retention', () => {
  const old = NOW - 40 * DAY
  const young = NOW - 5 * DAY
  const since = NOW - 30 * DAY

  test('are removed from engine, batches and backup, and stay on the counters', async () => {
    const dataDir = createTestDataDir()
    const started = await openTestHitWorker({ dataDir, keepFiles: 2 })
    await ship(started, 1, 10, old)
    await ship(started, 2, 10, young)
    await ship(started, 1, 7, young)
    await until('there is a backup', () => exists(dataDir, 'hits.duckdb.backup'))
    expect(await askSettledClicks(started, 1)).toBe(17)
    await started.hitWorker.pruneHits(since)
    expect([await askSettledClicks(started, 1), await askSettledClicks(started, 2)]).toEqual([7, 10])
    const counted = started.stored.flatMap(({ counts }) => counts).filter(([link]) => link === 1)
    expect(counted.reduce((sum, [, n]) => sum + n, 0)).toBe(17)
    expect(await listFilesWith(join(dataDir, 'batches'), String(old))).toEqual([])
    expect(await listFilesWith(join(dataDir, 'batches'), String(young))).not.toEqual([])
    await started.stop()

    const backup = createTestDataDir()
    await cp(join(dataDir, 'hits.duckdb.backup'), join(backup, 'hits.duckdb'))
    const restored = await openTestHitWorker({ dataDir: backup })
    expect([await askSettledClicks(restored, 1), await askSettledClicks(restored, 2)]).toEqual([7, 10])
  })

  const STARTS: [string, RegExp][] = [
    ['from the batches alone', ALL],
    ['with an older file', /never/],
    ['from an older backup and the batches', FILE],
  ]
  test.each(atScale({ quick: STARTS.slice(0, 1), full: STARTS, soak: STARTS }))(
    'are removed after a start %s',
    async (_, lost) => {
      const dataDir = createTestDataDir()
      const first = await openTestHitWorker({ dataDir, keepFiles: lost === FILE ? 1 : 100 })
      await ship(first, 1, 10, old)
      await ship(first, 1, 3, young)
      if (lost === FILE) await until('there is a backup', () => exists(dataDir, 'hits.duckdb.backup'))
      await ship(first, 1, 10, old)
      await first.stop()
      await loseEngine(dataDir, lost)
      const second = await openTestHitWorker({ dataDir, since, countedUpTo: 3 })
      expect(await askSettledClicks(second, 1)).toBe(3)
    },
  )

  test('stay in their batch until the counters have them', async () => {
    const dataDir = createTestDataDir()
    const away = Promise.withResolvers<void>()
    const started = await openTestHitWorker({ dataDir, storeCounts: () => away.promise })
    for (let i = 0; i < 4; i++) started.spool.append(createRawHit({ at: old, workspaceId: 1, linkId: 9 }))
    await until('it is loaded', () => started.hitWorker.state().mark === 1)
    await started.hitWorker.pruneHits(since)
    expect(await listFilesWith(join(dataDir, 'batches'), String(old))).toHaveLength(1)
    away.resolve()
    await until('it is counted', () => started.stored.length === 1)
    expect(started.stored[0]?.counts).toEqual([[9, 4, old]])
    await started.hitWorker.pruneHits(since)
    expect(await listFilesWith(join(dataDir, 'batches'), String(old))).toEqual([])
    expect(await askSettledClicks(started, 1)).toBe(0)
  })

  test('are not loaded when they arrive late', async () => {
    const started = await openTestHitWorker({ since })
    await ship(started, 1, 4, since - 1)
    await ship(started, 1, 2, since + DAY)
    expect(await askSettledClicks(started, 1)).toBe(2)
  })
})
