import { afterEach, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWorkerHere } from '../../../../tests/support/server/worker-here.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { Failure } from '../../../lib/failure.ts'
import type { HitGrouping, HitQuery } from '../../../storage/hits/hit-engine.ts'
import { createRawHit, IPHONE_USER_AGENT } from '../spool/raw-hit.fixture.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import type { BatchClickCounts } from './click-count-receiver.ts'
import { type HitWorkerClient, openHitWorkerClient } from './client.ts'

const SEGMENT = 256 * 1024
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function newDataDir() {
  const dir = await mkdtemp(join(tmpdir(), 'towpath-ship-'))
  closing.push(() => rm(dir, { recursive: true }))
  return dir
}

interface Started {
  spool: Spool
  hitWorker: HitWorkerClient
  stored: BatchClickCounts[]
  stop(): Promise<void>
}
async function start(
  dataDir: string,
  options: {
    countedUpTo?: number
    store?: (counts: BatchClickCounts) => Promise<void>
    maxHits?: number
    keepFiles?: number
  } = {},
): Promise<Started> {
  const spool = await openSpool({ dir: join(dataDir, 'spool'), segmentBytes: SEGMENT })
  const stored: BatchClickCounts[] = []
  const hitWorker = openHitWorkerClient({
    startWorker: startWorkerHere,
    dataDir,
    spool,
    salts: [],
    ownHosts: [],
    countedUpTo: options.countedUpTo ?? 0,
    async storeCounts(counts) {
      await options.store?.(counts)
      stored.push(counts)
    },
    shipEveryMs: 20,
    maxHits: options.maxHits,
    batchRetention: { ageMs: 1e9, bytes: 1e12, files: options.keepFiles ?? 1e6 },
    pruneEveryMs: 50,
  })
  const stop = async () => {
    await hitWorker.close()
    await spool.close()
  }
  closing.push(stop)
  return { spool, hitWorker, stored, stop }
}

const question = (
  groupBy: HitGrouping = { by: 'total' },
  classes: HitQuery['classes'] = ['human'],
): HitQuery => ({
  workspaceId: 1,
  start: 0,
  end: Date.now() + 1e6,
  classes,
  filters: [],
  groupBy,
})
const clicks = async (hitWorker: HitWorkerClient, query = question()) =>
  (await hitWorker.ask(query)).reduce((sum, row) => sum + row.clicks, 0)

async function until(met: () => boolean | Promise<boolean>) {
  for (const end = Date.now() + 60_000; Date.now() < end; await Bun.sleep(10)) if (await met()) return
  throw new Error('did not happen within 60 s')
}
/** Hits of several links. Every tenth is of a bot. */
const kinds = (i: number) =>
  createRawHit({ linkId: 1 + (i % 3), userAgent: i % 10 === 9 ? 'curl/8' : IPHONE_USER_AGENT })
async function append(spool: Spool, count: number) {
  for (let i = 0; i < count; i++) {
    spool.append(kinds(i))
    if (i % 200 === 0) await until(() => spool.stats().waiting === 0)
  }
  await until(() => spool.stats().waiting === 0)
}
const sum = (stored: BatchClickCounts[]) =>
  stored.flatMap(({ counts }) => counts).reduce((total, [, each]) => total + each, 0)

async function everyFile(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

describe('a recorded hit', () => {
  test('is in the answers and on its link’s counter soon, without any call', async () => {
    const { spool, hitWorker, stored } = await start(await newDataDir())
    await until(() => hitWorker.state().engineUp)
    const at = Date.now()
    spool.append(createRawHit({ at }))
    // Without a bound: the worker leaves the processor to whoever else wants it.
    await until(() => hitWorker.countedUntil() > at)
    expect(await clicks(hitWorker)).toBe(1)
    await until(() => stored.length > 0)
    expect(stored).toEqual([{ node: spool.node, number: 1, counts: [[7, 1, at]] }])
  })

  test('counts once, in its class, over many segments and batches', async () => {
    const { spool, hitWorker, stored } = await start(await newDataDir(), { maxHits: 700 })
    await append(spool, 5000)
    await hitWorker.drain()
    expect(await clicks(hitWorker)).toBe(4500)
    expect(await clicks(hitWorker, question({ by: 'total' }, ['bot']))).toBe(500)
    expect(sum(stored)).toBe(4500)
    expect(stored.map(({ number }) => number)).toEqual(stored.map((_, i) => i + 1))
    expect(stored.length).toBeGreaterThan(3)
    const byLink = await hitWorker.ask(question({ by: 'linkId', limit: 10, nullAs: '' }))
    const counted = new Map<number, number>()
    for (const { counts } of stored)
      for (const [link, each] of counts) counted.set(link, (counted.get(link) ?? 0) + each)
    expect(new Map(byLink.map(({ key, clicks }) => [Number(key), clicks]))).toEqual(counted)
  })

  test('leaves no address and no full segment behind after it is shipped', async () => {
    const dataDir = await newDataDir()
    const { spool, hitWorker } = await start(dataDir)
    await append(spool, 3000)
    await hitWorker.drain()
    expect(spool.stats().segment).toBeGreaterThan(2)
    expect(
      (await readdir(join(dataDir, 'spool'))).filter((name) => name.endsWith('.seg')).length,
    ).toBeLessThan(3)
    for (const path of await everyFile(dataDir))
      expect((await readFile(path)).includes('8.8.8.8')).toBe(false)
  })
})

describe('after a restart', () => {
  test('unshipped hits are shipped, and shipped hits are not shipped again', async () => {
    const dataDir = await newDataDir()
    const first = await start(dataDir)
    await append(first.spool, 1000)
    await first.hitWorker.drain()
    await first.hitWorker.close()
    await append(first.spool, 500) // recorded while no worker runs
    await first.spool.close()
    const counted = first.stored.at(-1)?.number ?? 0
    const second = await start(dataDir, { countedUpTo: counted })
    await second.hitWorker.drain()
    expect(await clicks(second.hitWorker)).toBe(1350)
    expect(sum(first.stored) + sum(second.stored)).toBe(1350)
    expect(second.stored[0]?.number).toBe(counted + 1)
  })

  test('counts that were not stored are counted again from the batch files', async () => {
    const dataDir = await newDataDir()
    const first = await start(dataDir, { maxHits: 100 })
    await append(first.spool, 6000)
    await first.hitWorker.drain()
    await first.stop()
    const last = first.stored.at(-1)?.number ?? 0
    const second = await start(dataDir, { countedUpTo: 2 })
    await until(() => second.hitWorker.state().counted === last)
    expect(second.stored).toEqual(first.stored.slice(2))
  })

  for (const [what, damage] of [
    ['was overwritten', (path: string) => writeFile(path, 'not a database'.repeat(1000))],
    ['is gone', (path: string) => rm(path)],
    ['has damaged blocks', overwriteMiddle],
  ] as const)
    test(`an engine file that ${what} is rebuilt with exact counts`, async () => {
      const dataDir = await newDataDir()
      const first = await start(dataDir, { maxHits: 300 })
      await append(first.spool, 2000)
      await first.hitWorker.drain()
      await first.stop()
      await damage(join(dataDir, 'hits.duckdb'))
      const second = await start(dataDir, { countedUpTo: first.stored.at(-1)?.number })
      await append(second.spool, 100)
      await second.hitWorker.drain()
      // Damage that only a question finds makes the question fail. The engine is then opened anew, and loads the batches.
      await clicks(second.hitWorker).catch((error) => expect(error).toMatchObject({ code: 'unavailable' }))
      await until(async () => (await clicks(second.hitWorker).catch(() => 0)) === 1890)
      expect(second.stored.length).toBeGreaterThan(0)
      expect(sum(second.stored)).toBe(90)
    })

  test('a corrupt engine whose old batches are pruned is rebuilt from its backup and the other batches', async () => {
    const dataDir = await newDataDir()
    const first = await start(dataDir, { maxHits: 100, keepFiles: 4 })
    await append(first.spool, 10_000)
    await first.hitWorker.drain()
    const batches = async () => (await readdir(join(dataDir, 'batches', first.spool.node))).length
    await until(async () => (await batches()) <= 4)
    await append(first.spool, 200)
    await first.hitWorker.drain()
    await first.stop()
    const counted = first.stored.at(-1)?.number ?? 0
    expect(await batches()).toBeLessThan(counted)
    await writeFile(join(dataDir, 'hits.duckdb'), 'not a database'.repeat(1000))
    const second = await start(dataDir, { countedUpTo: counted })
    await append(second.spool, 100)
    await second.hitWorker.drain()
    expect(await clicks(second.hitWorker)).toBe(9270)
    expect(sum(first.stored) + sum(second.stored)).toBe(9270)
  })

  test('every hit that a killed process had recorded counts once', async () => {
    const dataDir = await newDataDir()
    let recorded = 0
    let waited = 0
    for (let round = 0; round < atScale({ full: 2, soak: 3 }); round++) {
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
    const { hitWorker, stored } = await start(dataDir)
    await hitWorker.drain()
    const found = await clicks(hitWorker)
    expect(recorded).toBeGreaterThan(atScale({ full: 5_000, soak: 10_000 }))
    expect(found).toBeGreaterThanOrEqual(recorded)
    expect(found).toBeLessThanOrEqual(recorded + waited + 3)
    await until(() => sum(stored) === found)
  }, 120_000)
})

describe('an outage', () => {
  test('of the engine: hits become batches, questions fail as unavailable, and the engine catches up', async () => {
    const dataDir = await newDataDir()
    await mkdir(join(dataDir, 'hits.duckdb'))
    const { spool, hitWorker, stored } = await start(dataDir)
    await append(spool, 300)
    await hitWorker.drain()
    expect(sum(stored)).toBe(270)
    const refused = await hitWorker.ask(question()).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Failure)
    expect((refused as Failure).code).toBe('unavailable')
    await rm(join(dataDir, 'hits.duckdb'), { recursive: true })
    await until(() => hitWorker.state().engineUp)
    await hitWorker.drain()
    expect(await clicks(hitWorker)).toBe(270)
  })

  test('of the worker: another worker is started, and nothing is lost', async () => {
    const dataDir = await newDataDir()
    await writeFile(join(dataDir, 'batches'), 'in the way')
    const { spool, hitWorker, stored } = await start(dataDir)
    await append(spool, 300)
    await until(() => hitWorker.state().restarts > 0)
    const refused = await hitWorker.ask(question()).catch((error: unknown) => error)
    expect((refused as Failure).code).toBe('unavailable')
    await rm(join(dataDir, 'batches'))
    await hitWorker.drain()
    expect(await clicks(hitWorker)).toBe(270)
    expect(sum(stored)).toBe(270)
  })

  test('of the worker in the middle of its work loses nothing', async () => {
    const { spool, hitWorker, stored } = await start(await newDataDir())
    await append(spool, 300)
    await hitWorker.drain()
    hitWorker.setSalts(null as never) // the product never does this: it causes an unexpected error
    await until(() => hitWorker.state().restarts > 0)
    hitWorker.setSalts([])
    await append(spool, 300)
    await hitWorker.drain()
    expect(await clicks(hitWorker)).toBe(540)
    expect(sum(stored)).toBe(540)
  })

  test('of the rows: counts are retried until they are stored, in order', async () => {
    let attempts = 0
    const store = async () => {
      if (attempts++ < 2) throw new Error('no rows today')
    }
    const { spool, hitWorker, stored } = await start(await newDataDir(), { maxHits: 100, store })
    await append(spool, 4000)
    await hitWorker.drain()
    await until(() => sum(stored) === 3600)
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
  const spool = await openSpool({ dir: dataDir + '/spool', segmentBytes: ${SEGMENT} })
  openHitWorkerClient({ dataDir, spool, salts: [], ownHosts: [], countedUpTo: 1e9, shipEveryMs: 20, maxHits: 400, storeCounts: async () => {} })
  for (;;) {
    for (let i = 0; i < 20; i++) writeSync(1, spool.append(createRawHit()) === 0 ? ',' : '.')
    await Bun.sleep(1)
  }`
