// The client of the hit worker: every recorded hit counts once, even when the worker or the server ends at any moment.

import { afterEach, describe, expect, test } from 'bun:test'
import { mkdir, open, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { atScale, full, quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { createRawHit, IPHONE_USER_AGENT } from '../spool/raw-hit.fixture.ts'
import type { Spool } from '../spool/spool.ts'
import {
  askClicks,
  askSettledClicks,
  closeTestWorkers,
  createTestDataDir,
  listFilesWith,
  openTestHitWorker,
  sumCounts,
  toTotalQuery,
} from './worker.fixture.ts'

afterEach(closeTestWorkers)

/** Hits of several links. Every tenth is of a bot. */
const kinds = (i: number) =>
  createRawHit({ linkId: 1 + (i % 3), userAgent: i % 10 === 9 ? 'curl/8' : IPHONE_USER_AGENT })
async function append(spool: Spool, count: number) {
  for (let i = 0; i < count; i++) {
    spool.append(kinds(i))
    if (i % 200 === 0) await untilWritten(spool)
  }
  await untilWritten(spool)
}
const untilWritten = (spool: Spool) => until('the spool has room', () => spool.stats().waiting === 0)

describe('a recorded hit', () => {
  test('is in the answers and on its link’s counter soon, without any call', async () => {
    const { spool, hitWorker, stored } = await openTestHitWorker()
    const before = hitWorker.countedUntil()
    const hit = createRawHit()
    spool.append(hit)
    await until('it is in the answers', () => stored.length > 0 && hitWorker.state().mark === 1)
    expect(hitWorker.countedUntil()).toBeGreaterThanOrEqual(before)
    expect(await askClicks({ hitWorker })).toBe(1)
    expect(stored).toEqual([{ node: spool.node, number: 1, counts: [[7, 1, hit.at]] }])
  })

  test('counts once, in its class, over many segments and batches', async () => {
    const { spool, hitWorker, stored } = await openTestHitWorker({ maxHits: 700 })
    await append(spool, 5000)
    await hitWorker.drain()
    expect(await askClicks({ hitWorker })).toBe(4500)
    const [bots] = await hitWorker.ask(toTotalQuery(1, { classes: ['bot'] }))
    expect(bots?.clicks).toBe(500)
    expect(sumCounts(stored)).toBe(4500)
    expect(stored.map(({ number }) => number)).toEqual(stored.map((_, i) => i + 1))
    expect(stored.length).toBeGreaterThan(3)
    const byLink = await hitWorker.ask(toTotalQuery(1, { groupBy: { by: 'linkId', limit: 10, nullAs: '' } }))
    const counted = new Map<number, number>()
    for (const { counts } of stored)
      for (const [link, each] of counts) counted.set(link, (counted.get(link) ?? 0) + each)
    expect(new Map(byLink.map(({ key, clicks }) => [Number(key), clicks]))).toEqual(counted)
  })

  test('leaves no address and no full segment behind after it is shipped', async () => {
    const dataDir = createTestDataDir()
    const { spool, hitWorker } = await openTestHitWorker({ dataDir })
    await append(spool, 3000)
    await hitWorker.drain()
    expect(spool.stats().segment).toBeGreaterThan(2)
    expect(
      (await readdir(join(dataDir, 'spool'))).filter((name) => name.endsWith('.seg')).length,
    ).toBeLessThan(3)
    expect(await listFilesWith(dataDir, '8.8.8.8')).toEqual([])
  })
})

describe('after a restart', () => {
  test('unshipped hits are shipped, and shipped hits are not shipped again', async () => {
    const dataDir = createTestDataDir()
    const first = await openTestHitWorker({ dataDir })
    await append(first.spool, 1000)
    await first.hitWorker.drain()
    await first.hitWorker.close()
    await append(first.spool, 500) // recorded while no worker runs
    await first.spool.close()
    const counted = first.stored.at(-1)?.number ?? 0
    const second = await openTestHitWorker({ dataDir, countedUpTo: counted })
    await second.hitWorker.drain()
    expect(await askClicks(second)).toBe(1350)
    expect(sumCounts(first.stored) + sumCounts(second.stored)).toBe(1350)
    expect(second.stored[0]?.number).toBe(counted + 1)
  })

  test('counts that were not stored are counted again from the batch files', async () => {
    const dataDir = createTestDataDir()
    const first = await openTestHitWorker({ dataDir, maxHits: 100 })
    await append(first.spool, 6000)
    await first.hitWorker.drain()
    await first.stop()
    const last = first.stored.at(-1)?.number ?? 0
    const second = await openTestHitWorker({ dataDir, countedUpTo: 2 })
    await until('all are counted', () => second.hitWorker.state().counted === last)
    expect(second.stored).toEqual(first.stored.slice(2))
  })

  for (const [what, declare, damage] of [
    ['was overwritten', full, (path: string) => writeFile(path, 'not a database'.repeat(1000))],
    ['is gone', full, (path: string) => rm(path)],
    ['has damaged blocks', quick, overwriteMiddle],
  ] as const)
    declare(`an engine file that ${what} is rebuilt with exact counts`, async () => {
      const dataDir = createTestDataDir()
      const first = await openTestHitWorker({ dataDir, maxHits: 300 })
      await append(first.spool, 2000)
      await first.hitWorker.drain()
      await first.stop()
      await damage(join(dataDir, 'hits.duckdb'))
      const second = await openTestHitWorker({ dataDir, countedUpTo: first.stored.at(-1)?.number })
      await append(second.spool, 100)
      await second.hitWorker.drain()
      // Damage that only a question finds makes the question fail. The engine is then opened anew, and loads the batches.
      await askClicks(second).catch((error) => expect(error).toMatchObject({ code: 'unavailable' }))
      await until('it is rebuilt', async () => (await askClicks(second).catch(() => 0)) === 1890)
      expect(second.stored.length).toBeGreaterThan(0)
      expect(sumCounts(second.stored)).toBe(90)
    })

  test('a corrupt engine whose old batches are pruned is rebuilt from its backup and the other batches', async () => {
    const rounds = atScale({ quick: 4, full: 20, soak: 20 })
    const dataDir = createTestDataDir()
    const first = await openTestHitWorker({ dataDir, maxHits: 100, keepFiles: 2 })
    for (let round = 0; round < rounds; round++) {
      await append(first.spool, 500)
      await first.hitWorker.drain()
    }
    const batches = async () => (await readdir(join(dataDir, 'batches', first.spool.node))).length
    await until('old batches are pruned', async () => (await batches()) <= 2)
    await append(first.spool, 200)
    await first.hitWorker.drain()
    await first.stop()
    const lastNumber = first.stored.at(-1)?.number ?? 0
    expect(await batches()).toBeLessThan(lastNumber)
    await writeFile(join(dataDir, 'hits.duckdb'), 'not a database'.repeat(1000))
    const second = await openTestHitWorker({ dataDir, countedUpTo: lastNumber })
    await append(second.spool, 100)
    await second.hitWorker.drain()
    const counted = (rounds * 500 + 300) * 0.9
    expect(await askClicks(second)).toBe(counted)
    expect(sumCounts(first.stored) + sumCounts(second.stored)).toBe(counted)
  })

  test('every hit that a killed process had recorded counts once', async () => {
    const dataDir = createTestDataDir()
    let recorded = 0
    let waited = 0
    for (let round = 0; round < atScale({ quick: 1, full: 2, soak: 3 }); round++) {
      const child = Bun.spawn([process.execPath, '-e', recorder(dataDir)], {
        stdout: 'pipe',
        stderr: 'ignore',
      })
      let text = ''
      for await (const chunk of child.stdout) {
        text += new TextDecoder().decode(chunk)
        if (text.split('.').length > 3000 + round * 2500) child.kill('SIGKILL')
      }
      await child.exited
      recorded += text.split('.').length - 1
      waited += text.split(',').length - 1
    }
    const { hitWorker, stored } = await openTestHitWorker({ dataDir })
    await hitWorker.drain()
    const found = await askClicks({ hitWorker })
    expect(recorded).toBeGreaterThan(atScale({ quick: 2_500, full: 5_000, soak: 10_000 }))
    expect(found).toBeGreaterThanOrEqual(recorded)
    expect(found).toBeLessThanOrEqual(recorded + waited + 3)
    await until('all are counted', () => sumCounts(stored) === found)
  }, 120_000)
})

describe('an outage', () => {
  test('of the engine: hits become batches, questions fail as unavailable, and the engine catches up', async () => {
    const dataDir = createTestDataDir()
    await mkdir(join(dataDir, 'hits.duckdb'))
    const { spool, hitWorker, stored } = await openTestHitWorker({ dataDir })
    await append(spool, 300)
    await hitWorker.drain()
    expect(sumCounts(stored)).toBe(270)
    const refused = await hitWorker.ask(toTotalQuery()).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'unavailable' })
    await rm(join(dataDir, 'hits.duckdb'), { recursive: true })
    expect(await askSettledClicks({ hitWorker })).toBe(270)
  })

  test('of the worker: another worker is started, and nothing is lost', async () => {
    const dataDir = createTestDataDir()
    await writeFile(join(dataDir, 'batches'), 'in the way')
    const { spool, hitWorker, stored } = await openTestHitWorker({ dataDir })
    await append(spool, 300)
    await until('another worker starts', () => hitWorker.state().restarts > 0)
    const refused = await hitWorker.ask(toTotalQuery()).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'unavailable' })
    await rm(join(dataDir, 'batches'))
    await hitWorker.drain()
    expect(await askClicks({ hitWorker })).toBe(270)
    expect(sumCounts(stored)).toBe(270)
  })

  test('of the worker in the middle of its work loses nothing', async () => {
    const { spool, hitWorker, stored } = await openTestHitWorker()
    await append(spool, 300)
    await hitWorker.drain()
    hitWorker.setSalts(null as never) // the product never does this: it causes an unexpected error
    await until('another worker starts', () => hitWorker.state().restarts > 0)
    hitWorker.setSalts([])
    await append(spool, 300)
    await hitWorker.drain()
    expect(await askClicks({ hitWorker })).toBe(540)
    expect(sumCounts(stored)).toBe(540)
  })

  test('of the rows: counts are retried until they are stored, in order', async () => {
    let attempts = 0
    const storeCounts = async () => {
      if (attempts++ < 2) throw new Error('no rows today')
    }
    const { spool, hitWorker, stored } = await openTestHitWorker({ maxHits: 100, storeCounts })
    await append(spool, 2000)
    await hitWorker.drain()
    await until('all are counted', () => sumCounts(stored) === 1800)
    expect(stored.map(({ number }) => number)).toEqual(stored.map((_, i) => i + 1))
    expect(attempts).toBe(stored.length + 2)
  })
})

async function overwriteMiddle(path: string) {
  const file = await open(path, 'r+')
  const { size } = await file.stat()
  await file.write(Buffer.alloc(16 * 1024, 0xa5), 0, 16 * 1024, Math.floor(size / 2))
  await file.close()
}

/** Prints a dot for every hit that it has recorded, and a comma for a hit that waits in memory. */
const recorder = (dataDir: string) => `
  import { writeSync } from 'node:fs'
  import { openSpool } from ${JSON.stringify(join(import.meta.dir, '../spool/spool.ts'))}
  import { openHitWorkerClient } from ${JSON.stringify(join(import.meta.dir, 'client.ts'))}
  import { createRawHit } from ${JSON.stringify(join(import.meta.dir, '../spool/raw-hit.fixture.ts'))}
  const dataDir = ${JSON.stringify(dataDir)}
  const spool = await openSpool({ dir: dataDir + '/spool', segmentBytes: 262144 })
  openHitWorkerClient({ dataDir, spool, salts: [], ownHosts: [], countedUpTo: 1e9, shipEveryMs: 20, maxHits: 400, storeCounts: async () => {} })
  for (;;) {
    for (let i = 0; i < 20; i++) writeSync(1, spool.append(createRawHit()) === 0 ? ',' : '.')
    await Bun.sleep(1)
  }`
