import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { createHit } from '../../../../../tests/contracts/hit-engine.ts'
import { full, quick } from '../../../../../tests/support/suite.ts'
import { createSerialQueue } from '../../../../lib/concurrency/serial-queue.ts'
import { setLogLevel } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import { createDamageWatch } from '../damage-watch.ts'
import { toDamageMarkerPath } from '../hit-file.ts'
import { migrateLayout } from '../layout.ts'
import { loadBatch } from '../load.ts'
import { createMemoryInstance } from '../memory-instance.ts'
import { createReadWriteLock } from '../read-write-lock.ts'
import { checkRollUps } from './marks.ts'
import { createRoller } from './roller.ts'
import { prepareRollUps } from './tables.ts'

setLogLevel('silent')

/** 1 May 2026: May is a whole month before `NOW`. */
const MAY_1 = Date.UTC(2026, 4, 1) / DAY_MS
const NOW = Date.UTC(2026, 5, 2)

let directory: string
let instance: DuckDBInstance
let writer: DuckDBConnection
/** Runs before each statement of the roller. */
let beforeStatement: (text: string) => void
/** Runs after each question of the roller. */
let afterQuestion: (text: string) => Promise<void>
let roller: ReturnType<typeof createRoller>
let isClosing: boolean
let openRoller: () => typeof roller
let batches: number

const lock = createReadWriteLock()
const writeQueue = createSerialQueue()

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'roller-'))
  instance = await createMemoryInstance(500, join(directory, 'temp'))
  writer = await instance.connect()
  await migrateLayout(writer)
  await prepareRollUps(writer)
  beforeStatement = () => {}
  afterQuestion = async () => {}
  batches = 0
  const connection = await instance.connect()
  const watched = new Proxy(connection, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name === 'run')
        return (text: string, ...rest: []) => {
          beforeStatement(text)
          return target.run(text, ...rest)
        }
      if (name !== 'runAndReadAll') return value.bind(target)
      return async (text: string, ...rest: []) => {
        const result = await target.runAndReadAll(text, ...rest)
        await afterQuestion(text)
        return result
      }
    },
  })
  const failuresPath = join(directory, 'failures')
  isClosing = false
  openRoller = () =>
    createRoller({
      connection: watched,
      writeQueue,
      lock,
      failuresPath,
      isClosing: () => isClosing,
      restMs: 0,
    })
  roller = openRoller()
})
afterEach(() => {
  instance.closeSync()
  rmSync(directory, { recursive: true, force: true })
})

/** Loads a hit on each of these days. */
const load = (days: number[]) =>
  writeQueue(async () => {
    const number = ++batches
    const path = join(directory, `${number}.ndjson`)
    writeFileSync(path, days.map((day) => `${JSON.stringify(createHit({ at: day * DAY_MS }))}\n`).join(''))
    const loaded = await loadBatch(writer, { node: 'a', number, path }, 0, lock)
    roller.noteLoaded(loaded.days)
  })

async function rollUpAll() {
  while ((await roller.rollUp(NOW)).rolled);
}

const readNumbers = async (text: string) =>
  (await writer.runAndReadAll(text)).getRows().map((row) => row.map(Number))

/** The answers of valid roll-ups, beside those of the hits. */
async function compareClicks() {
  const days = await readNumbers(
    'SELECT day, (SELECT coalesce(sum(clicks), 0) FROM roll_days WHERE roll_days.day = roll_marks.day) FROM roll_marks',
  )
  for (const [day = 0, clicks] of days)
    expect([
      day,
      ...((await readNumbers(`SELECT count(*) FROM hits WHERE recorded_at // ${DAY_MS} = ${day}`))[0] ?? []),
    ]).toEqual([day, Number(clicks)])
  const months = await readNumbers(
    'SELECT sum(clicks) FROM roll_month_links WHERE day IN (SELECT day FROM roll_month_marks)',
  )
  const may = await readNumbers(
    `SELECT count(*) FROM hits WHERE recorded_at >= ${MAY_1 * DAY_MS} AND recorded_at < ${(MAY_1 + 31) * DAY_MS}`,
  )
  return { days: days.length, month: months[0]?.[0], may: may[0]?.[0] }
}

/** Loads hits while the roller chooses what to do: after its first question with this text. */
function loadAfterQuestion(part: string, days: number[]) {
  let isLoaded = false
  afterQuestion = async (text) => {
    if (isLoaded || !text.includes(part)) return
    isLoaded = true
    await load(days)
  }
}

full('hits that come while a month is chosen are in its sums', async () => {
  await load(Array.from({ length: 31 }, (_, n) => MAY_1 + n))
  loadAfterQuestion('FROM roll_month_marks', [MAY_1 + 5, MAY_1 + 5])
  await rollUpAll()
  expect(await compareClicks()).toEqual({ days: 31, month: 33, may: 33 })
})

quick('hits that come while days without hits are chosen are counted', async () => {
  await load([MAY_1, MAY_1 + 20])
  loadAfterQuestion(`recorded_at >= ${(MAY_1 + 2) * DAY_MS} AND`, [MAY_1 + 7, MAY_1 + 9])
  await rollUpAll()
  expect((await compareClicks()).days).toBe(21)
})

full('late hits are loaded beside the roll-up of another day of their month, which lacked rows', async () => {
  await load(Array.from({ length: 31 }, (_, n) => MAY_1 + n))
  await rollUpAll()
  await writer.run(`DELETE FROM roll_values WHERE day = ${MAY_1 + 5}`)
  expect(await checkRollUps(writer)).toBe(1)
  loadAfterQuestion('count(*) FROM roll_source', [MAY_1 + 9])
  expect((await roller.rollUp(NOW)).rolled).toBe(1)
  await rollUpAll()
  expect(await compareClicks()).toEqual({ days: 31, month: 32, may: 32 })
})

/** Lets each roll-up of the second of May fail. @returns how often one has begun */
function failMay2(message: string) {
  const tries = { begun: 0 }
  beforeStatement = (text) => {
    if (!text.includes(`recorded_at >= ${(MAY_1 + 1) * DAY_MS} AND`) || !text.startsWith('CREATE TEMP TABLE'))
      return
    tries.begun++
    throw new Error(message)
  }
  return tries
}

/** Rolls up at these minutes of the monotonic clock. @returns how many days each of them has rolled up, or that it failed */
async function rollUpAt(minutes: readonly number[]) {
  const start = performance.now()
  let minute = 0
  const clock = spyOn(performance, 'now').mockImplementation(() => start + minute * 60_000)
  const results: [number, number | string][] = []
  for (minute of minutes)
    results.push([
      minute,
      await roller.rollUp(NOW).then(
        ({ rolled, failed }) => (failed ? 'failed' : rolled),
        (error) => error.message,
      ),
    ])
  clock.mockRestore()
  return results
}

test('a day that fails does not keep the next one waiting, and rests ten minutes, then an hour', async () => {
  await load([MAY_1, MAY_1 + 1, MAY_1 + 2])
  const tries = failMay2('a fault')
  expect(await rollUpAt([0, 1, 2, 3, 10, 12, 70, 73, 134])).toEqual([
    [0, 1],
    [1, 'failed'],
    [2, 1],
    [3, 0],
    [10, 0],
    [12, 'failed'],
    [70, 0],
    [73, 'failed'],
    [134, 'failed'],
  ])
  expect(tries.begun).toBe(4)
})

test('after a success, a day that fails rests ten minutes again', async () => {
  await load([MAY_1 + 1])
  failMay2('a fault')
  expect(await roller.rollUp(NOW)).toEqual({ rolled: 0, waiting: 1, failed: true })
  beforeStatement = () => {}
  expect(await rollUpAt([11])).toEqual([[11, 1]])
  await load([MAY_1 + 1])
  failMay2('a fault')
  expect(await rollUpAt([0, 9, 11])).toEqual([
    [0, 'failed'],
    [9, 0],
    [11, 'failed'],
  ])
})

test('one call tries one day, however many fail', async () => {
  await load([MAY_1, MAY_1 + 1, MAY_1 + 2])
  let begun = 0
  beforeStatement = (text) => {
    if (!text.startsWith('CREATE TEMP TABLE')) return
    begun++
    throw new Error('no space left on device')
  }
  expect(await roller.rollUp(NOW)).toEqual({ rolled: 0, waiting: 3, failed: true })
  expect(begun).toBe(1)
})

test('a day that failed rests also after the file was opened again, and others come before it', async () => {
  await load([MAY_1, MAY_1 + 1, MAY_1 + 2])
  const tries = failMay2('a fault')
  expect(await rollUpAt([0, 1])).toEqual([
    [0, 1],
    [1, 'failed'],
  ])
  roller = openRoller()
  expect(await rollUpAt([2, 3])).toEqual([
    [2, 1],
    [3, 0],
  ])
  await load([MAY_1 + 3])
  roller = openRoller()
  expect(await rollUpAt([20, 21])).toEqual([
    [20, 1],
    [21, 'failed'],
  ])
  expect(tries.begun).toBe(2)
})

test('nothing is rolled up while there is no room to note it, and the engine does not work for it', async () => {
  await load([MAY_1 + 1, MAY_1 + 2])
  const tries = failMay2('a fault')
  mkdirSync(join(directory, 'failures.half'))
  expect(await rollUpAt([0, 1, 2])).toEqual([
    [0, 'failed'],
    [1, 'failed'],
    [2, 0],
  ])
  expect(tries.begun).toBe(0)
  rmdirSync(join(directory, 'failures.half'))
  expect(await rollUpAt([3, 12])).toEqual([
    [3, 0],
    [12, 'failed'],
  ])
})

test('a day that needs more memory than there is rests an hour, and the next one does not wait', async () => {
  await load([MAY_1, MAY_1 + 1, MAY_1 + 2])
  failMay2('Out of Memory Error: could not allocate block')
  expect(await rollUpAt([0, 1, 2, 12, 60, 62])).toEqual([
    [0, 1],
    [1, 'failed'],
    [2, 1],
    [12, 0],
    [60, 0],
    [62, 'failed'],
  ])
  expect(await readNumbers('SELECT day FROM roll_marks ORDER BY day')).toEqual([[MAY_1], [MAY_1 + 2]])
})

test('a day that meets damage does not rest: the roll-ups are dropped first', async () => {
  await load([MAY_1 + 1])
  failMay2('Corrupt database file')
  await expect(roller.rollUp(NOW)).rejects.toThrow('Corrupt')
  beforeStatement = () => {}
  expect((await roller.rollUp(NOW)).rolled).toBe(1)
})

test('closing ends a roll-up between two statements, and says nothing about its day', async () => {
  await load([MAY_1])
  let statements = 0
  beforeStatement = () => {
    if (++statements === 5) isClosing = true
  }
  await expect(roller.rollUp(NOW)).rejects.toThrow('is being closed')
  // The transaction has ended.
  expect(statements).toBe(6)
  beforeStatement = () => {}
  isClosing = false
  expect((await openRoller().rollUp(NOW)).rolled).toBe(1)
})

test('a transaction that cannot be rolled back is told to whoever opens the engine again', async () => {
  await load([MAY_1])
  beforeStatement = (text) => {
    if (text === 'ROLLBACK' || text.startsWith('CREATE TEMP TABLE')) throw new Error('a fault')
  }
  const watch = createDamageWatch(join(directory, 'hits.duckdb'))
  await expect(watch(() => roller.rollUp(NOW))).rejects.toThrow('could not be rolled back')
  await expect(watch(() => Promise.resolve())).rejects.toThrow('could not be rolled back')
  expect(existsSync(toDamageMarkerPath(join(directory, 'hits.duckdb')))).toBe(false)
})

quick('the last 400 days are rolled up before older ones, and each day is marked once', async () => {
  const before = (days: number) => NOW / DAY_MS - days
  await load([before(3000), before(401), before(100), before(3)])
  const order: number[] = []
  beforeStatement = (text) => {
    const day = /^INSERT INTO roll_marks .*range\((\d+),/s.exec(text)?.[1]
    if (day) order.push(before(Number(day)))
  }
  await rollUpAll()
  // Days without hits are marked together with the first of them.
  expect(order).toEqual([400, 100, 99, 3, 3000, 2999, 401])
  expect(await readNumbers('SELECT count(*), count(DISTINCT day) FROM roll_marks')).toEqual([[2998, 2998]])
  // An import of old days, with one of last month among them.
  order.length = 0
  await load([before(2500), before(100), before(2000)])
  await rollUpAll()
  expect(order).toEqual([100, 2500, 2000])
})
