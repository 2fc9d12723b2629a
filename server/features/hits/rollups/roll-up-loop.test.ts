import { afterEach, expect, spyOn, test } from 'bun:test'
import { until } from '../../../../tests/support/until.ts'
import { createSerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { setLogLevel } from '../../../lib/log.ts'
import { openRollUpLoop, type RollUpLoop, type RollUpLoopNeeds, type RollUpPace } from './roll-up-loop.ts'

setLogLevel('silent')

const FAST: RollUpPace = { pauseMs: 1, retryMs: 1, lookEveryMs: 5, stayMs: 0 }
/** Nothing that waits for such a pause happens in a test. */
const NEVER = 3_600_000

const loops: RollUpLoop[] = []
afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.close()
})

/** Days of an engine, which says how many calls were running at a time. */
function createDays(count: number) {
  const days = { left: count, atOnce: 1, resting: 0, calls: 0, running: 0, mostRunning: 0 }
  const rollUp = async () => {
    days.calls++
    days.mostRunning = Math.max(days.mostRunning, ++days.running)
    await new Promise((resolve) => setImmediate(resolve))
    days.running--
    const rolled = Math.min(days.left, days.atOnce)
    days.left -= rolled
    return { rolled, waiting: days.left + days.resting }
  }
  return { days, rollUp }
}

function open(needs: Pick<RollUpLoopNeeds, 'rollUp'> & Partial<RollUpLoopNeeds>) {
  const loop = openRollUpLoop({
    mayRun: () => true,
    queue: createSerialQueue(),
    onChange: () => {},
    pace: FAST,
    ...needs,
  })
  loops.push(loop)
  return loop
}

test('rolls up one day after the other, is busy until none is left, and then looks now and then', async () => {
  const { days, rollUp } = createDays(4)
  const loop = open({ rollUp })
  expect(loop.isBusy()).toBe(true)
  expect(loop.stats()).toEqual({ waiting: undefined, made: 0, failures: 0 })
  await until('all days are rolled up', () => loop.stats().made === 4)
  await until('the loop has nothing to do', () => !loop.isBusy())
  expect(loop.stats()).toEqual({ waiting: 0, made: 4, failures: 0 })
  expect(days.mostRunning).toBe(1)
  days.left = 1
  await until('the day that came later is rolled up', () => loop.stats().made === 5)
})

test('counts the days of a roll-up, and not the roll-ups', async () => {
  const { days, rollUp } = createDays(10)
  days.atOnce = 8
  const loop = open({ rollUp })
  await until('all days are rolled up', () => loop.stats().waiting === 0)
  expect(loop.stats().made).toBe(10)
})

test('waits while something more urgent waits, and keeps nobody awake meanwhile', async () => {
  const { days, rollUp } = createDays(1)
  let looks = 0
  let mayRun = false
  const loop = open({
    rollUp,
    mayRun() {
      looks++
      return mayRun
    },
  })
  await until('the loop has looked several times', () => looks > 5)
  expect([days.calls, loop.isBusy()]).toEqual([0, false])
  mayRun = true
  await until('the day is rolled up', () => loop.stats().made === 1)
})

test('never runs beside what is in its queue, and asks again once it is its turn', async () => {
  const { days, rollUp } = createDays(1)
  const queue = createSerialQueue()
  const erased = Promise.withResolvers<void>()
  void queue(() => erased.promise)
  let looks = 0
  let mayRun = true
  const loop = open({
    rollUp,
    queue,
    mayRun() {
      looks++
      return mayRun
    },
  })
  await until('the loop waits in the queue', () => looks > 0)
  mayRun = false
  erased.resolve()
  await until('the loop has looked again', () => looks > 3)
  expect(days.calls).toBe(0)
  mayRun = true
  await until('the day is rolled up', () => loop.stats().made === 1)
})

test('days that have to wait keep the worker awake for a while, and not for ever', async () => {
  const { days, rollUp } = createDays(0)
  days.resting = 2
  const patient = open({ rollUp, pace: { ...FAST, stayMs: NEVER } })
  await until('the loop has looked', () => patient.stats().waiting === 2)
  expect(patient.isBusy()).toBe(true)
  const hasty = open({ rollUp, pace: { ...FAST, lookEveryMs: NEVER } })
  await until('the loop has looked', () => hasty.stats().waiting === 2)
  await until('the loop is not busy', () => !hasty.isBusy())
  days.resting = 0
  await until('no day waits any more', () => patient.stats().waiting === 0)
  await until('the loop is not busy', () => !patient.isBusy())
})

test('counts failures, lets the worker sleep, and tries again', async () => {
  const { rollUp } = createDays(1)
  let hasRoom = false
  const loop = open({
    rollUp: () => (hasRoom ? rollUp() : Promise.reject(new Error('No space left on device'))),
  })
  await until('it has failed more than once', () => loop.stats().failures > 1)
  await until('the loop is not busy', () => !loop.isBusy())
  hasRoom = true
  await until('the day is rolled up', () => loop.stats().made === 1)
})

test('a roll-up that fails keeps the worker awake until another one was tried, and says how many wait', async () => {
  const failing = open({
    rollUp: async () => ({ rolled: 0, waiting: 5, failed: true }),
    pace: { ...FAST, lookEveryMs: NEVER, stayMs: NEVER },
  })
  await until('it has failed', () => failing.stats().failures === 1)
  expect([failing.stats().waiting, failing.isBusy()]).toEqual([5, true])
  const throwing = open({
    rollUp: () => Promise.reject(new Error('the engine is away')),
    pace: { ...FAST, lookEveryMs: NEVER, stayMs: NEVER },
  })
  await until('it has failed', () => throwing.stats().failures === 1)
  expect(throwing.isBusy()).toBe(true)
})

test('logs an error once while it stays the same, also after a roll-up that failed', async () => {
  const results = ['failed', 'one fault', 'one fault', 'another fault', 'one fault']
  const logged: string[] = []
  const write = spyOn(process.stderr, 'write').mockImplementation((line) => {
    logged.push(...(/fault/.exec(String(line)) ? [JSON.parse(String(line)).error] : []))
    return true
  })
  setLogLevel('error')
  const loop = open({
    async rollUp() {
      const result = results.shift()
      if (result === undefined || result === 'failed') return { rolled: 0, waiting: 1, failed: true }
      throw new Error(result)
    },
  })
  await until('it has failed for each reason', () => loop.stats().failures > 5)
  setLogLevel('silent')
  write.mockRestore()
  expect(logged).toEqual(['one fault', 'another fault', 'one fault'])
})

test('closes after the day that it rolls up, whatever else waits in its queue', async () => {
  const queue = createSerialQueue()
  const began = Promise.withResolvers<void>()
  const rolled = Promise.withResolvers<void>()
  let calls = 0
  const loop = open({
    queue,
    async rollUp() {
      calls++
      began.resolve()
      await rolled.promise
      return { rolled: 1, waiting: 9 }
    },
  })
  await began.promise
  let isClosed = false
  const closing = loop.close().then(() => {
    isClosed = true
  })
  void queue(() => new Promise(() => {}))
  expect(isClosed).toBe(false)
  rolled.resolve()
  await closing
  expect([calls, loop.stats().made]).toEqual([1, 1])
})

test('closes at once while it waits for its turn behind long maintenance', async () => {
  const { days, rollUp } = createDays(1)
  const queue = createSerialQueue()
  void queue(() => new Promise(() => {}))
  const loop = open({ rollUp, queue })
  await until('the loop waits in the queue', () => loop.isBusy())
  await loop.close()
  expect(days.calls).toBe(0)
})
