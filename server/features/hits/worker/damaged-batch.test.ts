// Batches that the disk damaged: damage is found, and only the damaged lines are lost.

import { afterEach, describe, expect, test } from 'bun:test'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { openDuckDb } from '../../../storage/hits/duckdb/engine.ts'
import type { Batch } from '../../../storage/hits/hit-engine.ts'
import { inspectBatch, quarantineBatch } from '../batches/batch-reader.ts'
import { createRawHit } from '../spool/raw-hit.fixture.ts'
import { openEngineSupervisor } from './engine-supervisor.ts'
import {
  askClicks,
  closeTestWorkers,
  createTestDataDir,
  openTestHitWorker,
  toTotalQuery,
} from './worker.fixture.ts'

afterEach(closeTestWorkers)

const toLine = (id: number) =>
  `${JSON.stringify({ id, at: 1, workspaceId: 1, linkId: 1, outcome: 'redirect', class: 'human', trigger: 'link', visitor: '1', browser: 'Safari' })}\n`

const fillAt = (bytes: Buffer, at: number, length: number, value: number) =>
  Buffer.from(bytes).fill(value, at, at + length)
const zeroSecondLine = (bytes: Buffer) => fillAt(bytes, bytes.indexOf('\n') + 20, 50, 0)

/** Damage to a file of 10 hits, and how many hits are lost with it. */
const DAMAGES: [what: string, damage: (bytes: Buffer) => Buffer | undefined, lost: number][] = [
  ['zeros in the middle of a line', zeroSecondLine, 10],
  ['a line that breaks off', (bytes) => bytes.subarray(0, -30), 10],
  ['two lines that became one', (bytes) => Buffer.from(bytes.toString().replace('\n', ' ')), 9],
  ['a byte that is not text', (bytes) => fillAt(bytes, bytes.indexOf('Safari'), 1, 0xff), 10],
  ['JSON that is not a hit', (bytes) => Buffer.concat([bytes, Buffer.from('{"id":1}\n[]\n"x"\n')]), 13],
  ['another file’s bytes', () => Buffer.alloc(8192, 0xa5), 1],
  ['nothing, for it is gone', () => undefined, 1],
]

describe('a batch that the disk damaged', () => {
  test('is refused, found and quarantined, whatever the damage is', async () => {
    const dir = createTestDataDir()
    const engine = await openDuckDb({ path: join(dir, 'hits.duckdb'), batchDir: dir })
    try {
      const whole = Buffer.from(Array.from({ length: 10 }, (_, id) => toLine(id)).join(''))
      for (const [n, [what, damage, lost]] of DAMAGES.entries()) {
        const batch: Batch = { node: 'a', number: n + 1, path: join(dir, `${n + 1}.ndjson`) }
        const bytes = damage(whole)
        if (bytes) await writeFile(batch.path, bytes)
        const refusal = await engine.load(batch).catch((error: unknown) => error)
        expect([what, refusal]).toEqual([what, expect.any(Error)])
        expect([what, await inspectBatch(batch.path)]).toEqual([what, { intact: false, hits: lost }])
        await quarantineBatch(batch, lost)
        await engine.load(batch)
        expect(await readFile(`${batch.path}.unreadable`).catch(() => undefined)).toEqual(bytes as never)
      }
      const last: Batch = { node: 'a', number: DAMAGES.length + 1, path: join(dir, 'whole.ndjson') }
      await writeFile(last.path, whole)
      await engine.load(last)
      expect((await engine.ask(toTotalQuery()))[0]?.clicks).toBe(10)
    } finally {
      await engine.close()
    }
  })

  /** Three batches of 100, 10 and 1 hits, the second of them damaged. No engine has loaded any yet. */
  async function openWithDamage() {
    const dataDir = createTestDataDir()
    const inTheWay = join(dataDir, 'hits.duckdb')
    await mkdir(inTheWay)
    const opened = await openTestHitWorker({ dataDir })
    for (const hits of [100, 10, 1]) {
      for (let n = 0; n < hits; n++) opened.spool.append(createRawHit())
      await opened.hitWorker.drain()
    }
    const dir = join(dataDir, 'batches', opened.spool.node)
    const paths = (await readdir(dir)).sort().map((name) => join(dir, name))
    expect(paths).toHaveLength(3)
    const damaged = paths[1] as string
    await writeFile(damaged, zeroSecondLine(await readFile(damaged)))
    return { ...opened, damaged, freeEngine: () => rm(inTheWay, { recursive: true }) }
  }

  quick('does not stop the others, nor new hits, nor an engine that is built anew', async () => {
    const { hitWorker, spool, dataDir, damaged, freeEngine, stop } = await openWithDamage()
    await freeEngine()
    await until('all are loaded', () => hitWorker.state().mark === 3)
    expect(await askClicks({ hitWorker })).toBe(101)
    expect(hitWorker.state().lost).toEqual({ batches: 1, hits: 10 })
    expect(await readFile(`${damaged}.unreadable`, 'utf8')).not.toBeEmpty()
    spool.append(createRawHit())
    await hitWorker.drain()
    expect(await askClicks({ hitWorker })).toBe(102)
    await stop()
    await rm(join(dataDir, 'hits.duckdb'))
    const again = await openTestHitWorker({ dataDir, countedUpTo: 4 })
    await again.hitWorker.drain()
    expect(await askClicks(again)).toBe(102)
    expect(again.hitWorker.state()).toMatchObject({ mark: 4, restarts: 0, lost: { batches: 0, hits: 0 } })
  })

  test('still counts for its links as far as it can be read, and stops no worker', async () => {
    const { dataDir, stop } = await openWithDamage()
    await stop()
    const { hitWorker, stored } = await openTestHitWorker({ dataDir })
    await until('all are counted', () => stored.length === 3)
    expect(stored.map(({ counts }) => counts.map(([, clicks]) => clicks))).toEqual([[100], [9], [1]])
    expect(hitWorker.state().restarts).toBe(0)
  })
})

test('a whole batch is not set aside, however often a troubled engine refuses it', async () => {
  const dir = createTestDataDir()
  const batch: Batch = { node: 'a', number: 1, path: join(dir, 'batch') }
  await writeFile(batch.path, toLine(1))
  let refusals = 0
  const asked: boolean[] = []
  const supervisor = openEngineSupervisor({
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
  await until('it is loaded', () => supervisor.mark('a') === 1)
  await supervisor.close()
  expect(asked).toEqual([true])
})
