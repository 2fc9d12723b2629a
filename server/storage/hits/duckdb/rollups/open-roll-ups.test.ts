import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { createHitQuery } from '../../../../../tests/contracts/hit-engine.ts'
import { createSerialQueue } from '../../../../lib/concurrency/serial-queue.ts'
import { setLogLevel } from '../../../../lib/log.ts'
import { createDamageWatch } from '../damage-watch.ts'
import { toDamageMarkerPath } from '../hit-file.ts'
import { migrateLayout } from '../layout.ts'
import { createMemoryInstance } from '../memory-instance.ts'
import { createReadWriteLock } from '../read-write-lock.ts'
import { openRollUps, type RollUps } from './open-roll-ups.ts'
import { prepareRollUps } from './tables.ts'

setLogLevel('silent')

const corrupt = (what: string) => new Error(`IO Error: Corrupt database file: ${what}`)

let directory: string
let path: string
let instance: DuckDBInstance
let writer: DuckDBConnection
let rollUps: RollUps
let runAlone: ReturnType<typeof createSerialQueue>
/** Each reading of roll-ups takes one of these, and waits for it. Others read nothing damaged. */
let readings: Promise<void>[]
let readAllHits: () => Promise<unknown>

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'open-roll-ups-'))
  path = join(directory, 'hits.duckdb')
  instance = await createMemoryInstance(200, directory)
  writer = await instance.connect()
  await migrateLayout(writer)
  await prepareRollUps(writer)
  // The tables that are dropped with the roll-ups.
  await writer.run('INSERT INTO roll_marks VALUES (1, 0)')
  const reader = await instance.connect()
  readings = []
  readAllHits = async () => {}
  runAlone = createSerialQueue()
  rollUps = openRollUps(
    {
      connection: await instance.connect(),
      writer,
      writeQueue: createSerialQueue(),
      lock: createReadWriteLock(),
      failuresPath: join(directory, 'failures'),
      runAlone,
      readAllHits: () => readAllHits(),
      watchDamage: createDamageWatch(path),
      readers: {
        async use(_, work) {
          await readings.shift()
          return work(reader)
        },
      },
    },
    {},
  )
})
afterEach(async () => {
  await rollUps.close()
  instance.closeSync()
  rmSync(directory, { recursive: true, force: true })
})

const countMarks = async () => {
  await runAlone(async () => {})
  return Number((await writer.runAndReadAll('SELECT count(*) FROM roll_marks')).getRows()[0]?.[0])
}

test('a question that met damage before the roll-ups were dropped does not drop the new ones', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  readings = [first.promise, second.promise]
  const asked = [rollUps.explain(createHitQuery()), rollUps.explain(createHitQuery())]
  first.reject(corrupt('old'))
  expect((await asked[0])?.answers).toMatchObject([{ clicks: 0 }])
  expect(await countMarks()).toBe(0)
  await writer.run('INSERT INTO roll_marks VALUES (2, 0)')
  second.reject(corrupt('old'))
  expect((await asked[1])?.answers).toMatchObject([{ clicks: 0 }])
  expect(await countMarks()).toBe(1)
})

/** A question meets damaged roll-ups, and then an error when it reads hits. */
async function askInVain(error: Error) {
  const fail = (reason: Error) => {
    const failed = Promise.reject(reason)
    failed.catch(() => undefined)
    return failed
  }
  readings = [fail(corrupt('roll-ups')), fail(error)]
  await expect(rollUps.explain(createHitQuery())).rejects.toThrow(error.message)
}

test('damaged roll-ups are dropped although the hits of the question took too long, once all hits were read', async () => {
  await writer.run(
    "INSERT INTO hits_arrived BY NAME (SELECT 'n' AS node, 1 AS id, 1000 AS recorded_at, 1 AS workspace_id, 1 AS link_id, 'redirect' AS outcome, 'human' AS class, 'link' AS trigger, 1 AS visitor)",
  )
  let reads = 0
  readAllHits = async () => reads++
  await askInVain(new Error('INTERRUPT Error: Interrupted!'))
  expect([await countMarks(), reads, existsSync(toDamageMarkerPath(path))]).toEqual([0, 1, false])
  // They are left alone until they are dropped.
  readings = [Promise.resolve()]
  expect((await rollUps.explain(createHitQuery())).origin).toContainEqual(
    expect.objectContaining({ from: 'hits', why: 'unavailable' }),
  )
})

test('roll-ups stay when the hits of the question took too long and others are damaged: the file is marked', async () => {
  readAllHits = () => Promise.reject(corrupt('hits'))
  await askInVain(new Error('INTERRUPT Error: Interrupted!'))
  expect([await countMarks(), existsSync(toDamageMarkerPath(path))]).toEqual([1, true])
})

test('work that meets damaged roll-ups runs once more after they were dropped', async () => {
  let runs = 0
  const done = await rollUps.withRepair(async () => {
    if (++runs === 1) throw corrupt('roll-ups')
    return countMarks()
  })
  expect([done, runs]).toEqual([0, 2])
})

test.each([
  ['damaged hits', corrupt('hits')],
  ['something else', new Error('no space left on device')],
])('work that fails for %s does not run again, and the roll-ups stay', async (_, error) => {
  let runs = 0
  readAllHits = () => Promise.reject(error)
  const work = async () => {
    runs++
    throw error
  }
  await expect(rollUps.withRepair(work)).rejects.toThrow(error.message)
  expect([await countMarks(), runs]).toEqual([1, 1])
})

test('damage that is met while the file is being closed says nothing about its hits', async () => {
  const failed = rollUps.withRepair(async () => {
    await rollUps.close()
    throw corrupt('roll-ups')
  })
  await expect(failed).rejects.toThrow('was closed')
})
