import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { createHit } from '../../../../../tests/contracts/hit-engine.ts'
import { createSerialQueue } from '../../../../lib/concurrency/serial-queue.ts'
import { setLogLevel } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
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
  roller = createRoller({ connection: watched, writeQueue, lock, restMs: 0 })
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

/** What roll-ups say where they count, beside what the hits say. */
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

test('hits that come while a month is chosen are in its sums', async () => {
  await load(Array.from({ length: 31 }, (_, n) => MAY_1 + n))
  loadAfterQuestion('FROM roll_month_marks', [MAY_1 + 5, MAY_1 + 5])
  await rollUpAll()
  expect(await compareClicks()).toEqual({ days: 31, month: 33, may: 33 })
})

test('hits that come while days without hits are chosen are counted', async () => {
  await load([MAY_1, MAY_1 + 20])
  loadAfterQuestion(`recorded_at >= ${(MAY_1 + 2) * DAY_MS} AND`, [MAY_1 + 7, MAY_1 + 9])
  await rollUpAll()
  expect((await compareClicks()).days).toBe(21)
})

test('late hits are loaded beside the roll-up of another day of their month, which lacked rows', async () => {
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

/** Rolls up at these minutes of the monotonic clock. @returns how many days each of them has rolled up, or the error */
async function rollUpAt(minutes: readonly number[]) {
  const start = performance.now()
  let minute = 0
  const clock = spyOn(performance, 'now').mockImplementation(() => start + minute * 60_000)
  const results: [number, number | string][] = []
  for (minute of minutes)
    results.push([
      minute,
      await roller.rollUp(NOW).then(
        ({ rolled }) => rolled,
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
    [1, 'a fault'],
    [2, 1],
    [3, 0],
    [10, 0],
    [12, 'a fault'],
    [70, 0],
    [73, 'a fault'],
    [134, 'a fault'],
  ])
  expect(tries.begun).toBe(4)
})

test('after a success, a day that fails rests ten minutes again', async () => {
  await load([MAY_1 + 1])
  failMay2('a fault')
  await expect(roller.rollUp(NOW)).rejects.toThrow('a fault')
  beforeStatement = () => {}
  expect(await rollUpAt([11])).toEqual([[11, 1]])
  await load([MAY_1 + 1])
  failMay2('a fault')
  expect(await rollUpAt([0, 9, 11])).toEqual([
    [0, 'a fault'],
    [9, 0],
    [11, 'a fault'],
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
  await expect(roller.rollUp(NOW)).rejects.toThrow('no space')
  expect(begun).toBe(1)
})

test('a day that needs more memory than there is rests an hour, and the next one does not wait', async () => {
  await load([MAY_1, MAY_1 + 1, MAY_1 + 2])
  failMay2('Out of Memory Error: could not allocate block')
  expect(await rollUpAt([0, 1, 2, 12, 60, 62])).toEqual([
    [0, 1],
    [1, 'Out of Memory Error: could not allocate block'],
    [2, 1],
    [12, 0],
    [60, 0],
    [62, 'Out of Memory Error: could not allocate block'],
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

test('the last 400 days are rolled up before older ones, and each day is marked once', async () => {
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
