import { afterAll, describe, expect, test } from 'bun:test'
import {
  appendFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWorkerHere } from '../../../../tests/support/server/worker-here.ts'
import { openDuckDb } from '../../../storage/hits/duckdb/engine.ts'
import type { Batch } from '../../../storage/hits/hit-engine.ts'
import { inspectBatch } from '../batches/batch-reader.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import { openSpool } from '../spool/spool.ts'
import { type HitWorkerClient, openHitWorkerClient } from './client.ts'
import { openEngineSupervisor } from './engine-supervisor.ts'

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function newDir() {
  const dir = await mkdtemp(join(tmpdir(), 'towpath-damaged-'))
  closing.push(() => rm(dir, { recursive: true }))
  return dir
}

async function start(dataDir: string, countedUpTo = 0) {
  const spool = await openSpool({ dir: join(dataDir, 'spool'), segmentBytes: 1024 * 1024 })
  const counted = new Map<number, number>()
  const hitWorker = openHitWorkerClient({
    startWorker: startWorkerHere,
    dataDir,
    spool,
    salts: [],
    ownHosts: [],
    countedUpTo,
    async storeCounts({ number, counts }) {
      counted.set(
        number,
        counts.reduce((sum, [, clicks]) => sum + clicks, 0),
      )
    },
    shipEveryMs: 20,
  })
  const stop = async () => {
    await hitWorker.close()
    await spool.close()
  }
  closing.push(stop)
  return { spool, hitWorker, counted, stop }
}

const clicks = async (hitWorker: HitWorkerClient) => {
  const rows = await hitWorker.ask({
    workspaceId: 1,
    start: 0,
    end: 1e15,
    classes: ['human'],
    filters: [],
    groupBy: { by: 'total' },
  })
  return rows[0]?.clicks
}

async function until(met: () => boolean | Promise<boolean>) {
  for (const end = Date.now() + 60_000; Date.now() < end; await Bun.sleep(10)) if (await met()) return
  throw new Error('did not happen within 60 s')
}

/** Three batches of 100, 10 and 1 hits, which no engine has loaded yet. */
async function threeBatches(dataDir: string) {
  await mkdir(join(dataDir, 'hits.duckdb'))
  const running = await start(dataDir)
  for (const [i, hits] of [100, 10, 1].entries()) {
    for (let n = 0; n < hits; n++) running.spool.append(createRawHit())
    await until(() => running.hitWorker.state().batch === i + 1)
  }
  const dir = join(dataDir, 'batches', running.spool.node)
  const paths = (await readdir(dir)).sort().map((name) => join(dir, name))
  expect(paths).toHaveLength(3)
  return { ...running, dir, paths }
}
const giveEngineBack = (dataDir: string) => rm(join(dataDir, 'hits.duckdb'), { recursive: true })

async function overwrite(path: string, at: number, bytes: Buffer) {
  const file = await open(path, 'r+')
  await file.write(bytes, 0, bytes.length, at)
  await file.close()
}

/** An offset in the second line. It depends on the length of the random ids in the first line. */
async function rotSecondLine(path: string) {
  await overwrite(path, (await readFile(path)).indexOf('\n') + 20, Buffer.alloc(50))
}

/** Kinds of damage to a file of 10 hits, with the number of hits that are lost. */
const ROT: [what: string, rot: (path: string) => Promise<unknown>, lost: number][] = [
  ['zeros in the middle of a line', rotSecondLine, 10],
  ['a line that breaks off', async (path) => truncate(path, (await stat(path)).size - 30), 10],
  [
    'two lines that became one',
    async (path) => overwrite(path, (await readFile(path)).indexOf('\n'), Buffer.from(' ')),
    9,
  ],
  [
    'bytes that are not text',
    async (path) => overwrite(path, (await readFile(path)).indexOf('Safari'), Buffer.from([0xff])),
    10,
  ],
  ['JSON that is not a hit', (path) => appendFile(path, '{"id":1}\n[]\n"x"\n'), 13],
  ['another file’s bytes', (path) => writeFile(path, Buffer.alloc(8192, 0xa5)), 1],
  ['nothing, for it is gone', (path) => rm(path), 1],
]

describe('a batch that the disk damaged', () => {
  // Concurrent: each test waits for the pauses between the engine's refusals.
  test.concurrent.each(ROT)('is quarantined, and later batches load: %s', async (_, rot, lost) => {
    const dataDir = await newDir()
    const { hitWorker, spool, dir, paths, stop } = await threeBatches(dataDir)
    await rot(paths[1] as string)
    const gone = !(await readdir(dir)).includes((paths[1] as string).slice(dir.length + 1))
    await giveEngineBack(dataDir)
    await until(() => hitWorker.state().mark === 3)
    expect(await clicks(hitWorker)).toBe(101)
    expect(hitWorker.state().lost).toEqual({ batches: 1, hits: lost })
    const names = (await readdir(dir)).filter((name) => name.endsWith('.unreadable'))
    expect(names).toHaveLength(gone ? 0 : 1)
    // Nothing else is lost, now or after a restart, and new hits count.
    spool.append(createRawHit())
    await hitWorker.drain()
    expect(await clicks(hitWorker)).toBe(102)
    await stop()
    const again = await start(dataDir, 4)
    await again.hitWorker.drain()
    expect(await clicks(again.hitWorker)).toBe(102)
    expect(again.hitWorker.state()).toMatchObject({ mark: 4, restarts: 0, lost: { batches: 0, hits: 0 } })
  })

  test.concurrent('is not held against an engine that is built anew', async () => {
    const dataDir = await newDir()
    const { hitWorker, paths, stop } = await threeBatches(dataDir)
    await rotSecondLine(paths[1] as string)
    await giveEngineBack(dataDir)
    await until(() => hitWorker.state().mark === 3)
    await stop()
    await rm(join(dataDir, 'hits.duckdb'))
    const again = await start(dataDir, 3)
    await again.hitWorker.drain()
    expect(await clicks(again.hitWorker)).toBe(101)
    expect(again.hitWorker.state().lost).toEqual({ batches: 0, hits: 0 })
  })

  test.concurrent('still counts for its links as far as it can be read, and stops no worker', async () => {
    const dataDir = await newDir()
    const { paths, stop } = await threeBatches(dataDir)
    await stop()
    await rotSecondLine(paths[1] as string)
    const { hitWorker, counted } = await start(dataDir)
    await until(() => counted.size === 3)
    expect([...counted.values()]).toEqual([100, 9, 1])
    expect(hitWorker.state().restarts).toBe(0)
  })
})

test.concurrent('a whole batch is not set aside, however often a troubled engine refuses it', async () => {
  const dir = await newDir()
  const path = join(dir, 'batch')
  await writeFile(
    path,
    '{"id":1,"at":1,"workspaceId":1,"linkId":1,"outcome":"redirect","class":"human","trigger":"link","visitor":"1"}\n',
  )
  expect(await inspectBatch(path)).toEqual({ intact: true, hits: 1 })
  const batch: Batch = { node: 'a', number: 1, path }
  let refusals = 0
  const asked: boolean[] = []
  const kept = openEngineSupervisor({
    async open() {
      const engine = await openDuckDb({ path: join(dir, 'hits.duckdb') })
      return {
        ...engine,
        async load(each) {
          if (++refusals < 4) throw new Error('No space left on device')
          await engine.load(each)
        },
      }
    },
    node: 'a',
    batches: () => [[batch]],
    async repair({ path }) {
      const { intact } = await inspectBatch(path)
      asked.push(intact)
      return !intact
    },
    onChange() {},
  })
  closing.push(() => kept.close())
  await until(() => kept.mark('a') === 1)
  expect(asked).toEqual([true])
})
