// Hits that another process hands over: each is counted once, whatever happens in the meantime, beside the clicks of
// visitors.

import { afterEach, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../../../../tests/support/random.ts'
import { startWorkerHere } from '../../../../tests/support/server/worker-here.ts'
import { atScale, quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import type { Hit } from '../../../storage/hits/hit.ts'
import { ensureNodeId } from '../spool/node-id.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import { type HitWorkerClient, openHitWorkerClient } from '../worker/client.ts'
import { createHitImport } from './hit-import.ts'

const DAY = 24 * 60 * 60 * 1000
const NOW = Date.UTC(2026, 5, 15)
const WORKSPACE = 7
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface House {
  dataDir: string
  /** The counters of the links. They survive restarts, like those in the rows. */
  counters: Map<number, number>
  mark: number
}

interface Running {
  spool: Spool
  hitWorker: HitWorkerClient
  stop(): Promise<void>
}

async function newHouse(): Promise<House> {
  const dataDir = await mkdtemp(join(tmpdir(), 'towpath-incoming-'))
  closing.push(() => rm(dataDir, { recursive: true }))
  return { dataDir, counters: new Map(), mark: 0 }
}

async function start(house: House): Promise<Running> {
  const spool = await openSpool({ dir: join(house.dataDir, 'spool'), segmentBytes: 256 * 1024 })
  const hitWorker = openHitWorkerClient({
    startWorker: startWorkerHere,
    dataDir: house.dataDir,
    spool,
    salts: [],
    ownHosts: [],
    countedUpTo: house.mark,
    async storeCounts({ number, counts }) {
      if (number <= house.mark) return
      house.mark = number
      for (const [link, clicks] of counts) house.counters.set(link, (house.counters.get(link) ?? 0) + clicks)
    },
    shipEveryMs: 10,
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= hitWorker.close().then(() => spool.close())
    return stopped
  }
  closing.push(stop)
  return { spool, hitWorker, stop }
}

let ids = 2 ** 52
const lines = (count: number, of: Partial<Hit> = {}) =>
  Array.from({ length: count }, (_, n) => {
    const at = NOW - 20 * DAY + n
    const hit = { id: ids++, at, workspaceId: WORKSPACE, linkId: 1, outcome: 'redirect', class: 'human' }
    return `${JSON.stringify({ ...hit, trigger: 'link', visitor: '1', country: 'DE', ...of })}\n`
  }).join('')

async function give({ dataDir }: House, files: string[], name = 'them') {
  const handOver = await createHitImport(dataDir, name)
  for (const file of files) await handOver.add(file)
  await handOver.finish()
  return handOver
}

async function clicks({ hitWorker }: Running, workspaceId = WORKSPACE): Promise<number> {
  await until('the engine to be up', () => hitWorker.state().engineUp)
  const range = { start: 0, end: 1e15, classes: ['human' as const], filters: [] }
  const answer = await hitWorker.ask({ ...range, workspaceId, groupBy: { by: 'total' } })
  return answer[0]?.clicks ?? -1
}
const count = ({ counters }: House, link = 1) => counters.get(link) ?? 0

test('imported hits are in the answers and on the counters, beside the clicks of visitors', async () => {
  const house = await newHouse()
  const running = await start(house)
  const handOver = await give(house, [lines(30), lines(20, { linkId: 2 }), lines(5, { class: 'bot' })])
  for (let n = 0; n < 10; n++) running.spool.append(createRawHit({ workspaceId: WORKSPACE, linkId: 1 }))
  await until('all to be counted', () => count(house, 1) === 40 && count(house, 2) === 20)
  await until('all to be in the answers', async () => (await clicks(running)) === 60)
  await until('the directory to be gone', () => handOver.isImported())
  expect(await readdir(join(house.dataDir, 'incoming'))).toEqual([])
})

test('an import waits for the next server when none runs, before the first start too', async () => {
  const house = await newHouse()
  const node = await ensureNodeId(house.dataDir)
  await give(house, [lines(3)])
  const running = await start(house)
  expect(running.spool.node).toBe(node)
  expect(await ensureNodeId(house.dataDir)).toBe(node)
  await until('them to be counted', () => count(house) === 3)
  await until('them to be in the answers', async () => (await clicks(running)) === 3)
})

quick('imported hits count once, however often the server ends during the import', async () => {
  const house = await newHouse()
  const random = createRandom('when the server ends during an import')
  let given = 0
  let real = 0
  for (let round = 0; round < atScale({ quick: 2, full: 3, soak: 8 }); round++) {
    const running = await start(house)
    await give(house, [lines(40), lines(40), lines(40)], `round-${round}`)
    given += 120
    running.spool.append(createRawHit({ workspaceId: WORKSPACE, linkId: 2 }))
    real++
    // At another moment in each round, from before the first file to after the last one.
    const moment = given * random()
    await until('the moment to end', () => count(house, 1) >= moment)
    await running.stop()
  }
  const running = await start(house)
  await until('all to be counted', () => count(house, 1) + count(house, 2) >= given + real)
  await running.hitWorker.drain()
  expect([count(house, 1), count(house, 2)]).toEqual([given, real])
  await until('them to be in the answers', async () => (await clicks(running)) >= given + real)
  expect(await clicks(running)).toBe(given + real)
})

test('an unfinished import is not imported, nor is a discarded one', async () => {
  const house = await newHouse()
  const handOver = await createHitImport(house.dataDir, 'half')
  await handOver.add(lines(5))
  const running = await start(house)
  running.spool.append(createRawHit({ workspaceId: WORKSPACE, linkId: 2 }))
  await until('a click of the moment to be counted', () => count(house, 2) === 1)
  expect(count(house, 1)).toBe(0)
  await handOver.discard()
  expect(await readdir(join(house.dataDir, 'incoming'))).toEqual([])
})

test('deletes the unfinished import of a killed command after an hour', async () => {
  const house = await newHouse()
  const incoming = join(house.dataDir, 'incoming')
  for (const name of ['old.tmp', 'young.tmp']) await mkdir(join(incoming, name), { recursive: true })
  const longAgo = new Date(NOW - DAY)
  await utimes(join(incoming, 'old.tmp'), longAgo, longAgo)
  const { spool } = await start(house)
  // A worker starts only when there is something to do.
  spool.append(createRawHit({ workspaceId: WORKSPACE, linkId: 2 }))
  await until('it to go', () => !existsSync(join(incoming, 'old.tmp')))
  expect(existsSync(join(incoming, 'young.tmp'))).toBe(true)
})

test('quarantines a file without valid hits, and imports the files after it', async () => {
  const house = await newHouse()
  const running = await start(house)
  await give(house, [lines(2), `${lines(2)}{"id":1}\n`, lines(3)])
  await until('the sound ones to be counted', () => count(house) === 5)
  await until('them to be in the answers', async () => (await clicks(running)) === 5)
  const kept = await readdir(join(house.dataDir, 'batches', running.spool.node))
  expect(kept.filter((name) => name.endsWith('.unreadable'))).toHaveLength(1)
})

test('a directory that cannot be read does not hold up other hits', async () => {
  const house = await newHouse()
  await mkdir(join(house.dataDir, 'incoming'))
  // A file: root, too, cannot read it as a directory.
  await writeFile(join(house.dataDir, 'incoming', 'strange'), '')
  const running = await start(house)
  running.spool.append(createRawHit({ workspaceId: WORKSPACE, linkId: 2 }))
  await until('a click of the moment to be counted', () => count(house, 2) === 1)
})

test('erases the hits of a deleted workspace that are not imported yet', async () => {
  const house = await newHouse()
  const running = await start(house)
  await give(house, [lines(50), lines(50), lines(4, { workspaceId: 8 })])
  await running.hitWorker.eraseHits([WORKSPACE])
  expect(await clicks(running)).toBe(0)
  await until('another workspace’s to be there', async () => (await clicks(running, 8)) === 4)
  expect(await readdir(join(house.dataDir, 'incoming'))).toEqual([])
})
