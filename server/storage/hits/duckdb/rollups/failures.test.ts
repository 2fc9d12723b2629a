import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setLogLevel } from '../../../../lib/log.ts'
import { createRollUpFailures } from './failures.ts'
import type { RollUpTask } from './roll-day.ts'

setLogLevel('silent')

const MINUTE_MS = 60_000
const DAYS = [1, 2, 3, 4, 5, 6]

let directory: string
let path: string
/** How far the clock has been moved on. */
let minutes: number

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'failures-'))
  path = join(directory, 'failures')
  minutes = 0
  const start = performance.now()
  const clock = spyOn(performance, 'now').mockImplementation(() => start + minutes * MINUTE_MS)
  ends.push(() => clock.mockRestore())
})
const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
  rmSync(directory, { recursive: true, force: true })
})

const toTask = (start: number): RollUpTask => ({ kind: 'days', start, end: start + 1 })

/** Opens the file as a new process does. */
function listResting() {
  const { isResting } = createRollUpFailures(path)
  return DAYS.filter((day) => isResting('days', day))
}

/** A process ends while it rolls up the day. */
const die = (day: number) => createRollUpFailures(path).begin(toTask(day))

test('a process that ends during a roll-up delays that day by ten minutes, and no other', () => {
  die(2)
  expect(listResting()).toEqual([2])
  minutes = 9
  expect(listResting()).toEqual([2])
  minutes = 11
  expect(listResting()).toEqual([])
  expect(createRollUpFailures(path).has('days', 2)).toBe(true)
})

test('roll-ups that end the process one after another let all others rest too: ten minutes, then an hour', () => {
  const deaths: number[] = []
  for (minutes = 0; minutes < 24 * 60; minutes++) {
    const resting = listResting()
    const day = DAYS.find((each) => !resting.includes(each))
    if (day === undefined) continue
    die(day)
    deaths.push(minutes)
  }
  expect(deaths.slice(0, 5)).toEqual([0, 1, 11, 71, 131])
  expect(deaths.length).toBeLessThan(27)
})

test('a roll-up that succeeds ends the rest of all others', () => {
  die(1)
  die(2)
  expect(listResting()).toEqual(DAYS)
  minutes = 11
  const failures = createRollUpFailures(path)
  failures.begin(toTask(3))
  failures.succeed()
  die(4)
  expect(listResting()).toEqual([4])
})

test('the file is there while a roll-up runs or rests, and says of others what it said before', () => {
  const failures = createRollUpFailures(path)
  failures.begin(toTask(1))
  expect(existsSync(path)).toBe(true)
  failures.succeed()
  expect(existsSync(path)).toBe(false)
  failures.begin(toTask(1))
  failures.withdraw()
  expect(existsSync(path)).toBe(false)
  failures.begin(toTask(1))
  failures.fail(new Error('a fault'))
  failures.begin(toTask(2))
  failures.succeed()
  expect(listResting()).toEqual([1])
  minutes = 11
  failures.begin(toTask(1))
  failures.succeed()
  expect(existsSync(path)).toBe(false)
})

test('an engine that dies of a roll-up counts as the process does', () => {
  for (const day of [1, 2]) {
    const failures = createRollUpFailures(path)
    failures.begin(toTask(day))
    failures.fail(new Error('FATAL Error: Failed to create checkpoint: No space left on device'))
  }
  expect(listResting()).toEqual(DAYS)
})

test('failures of days that are no more are left out after a day', () => {
  die(1)
  minutes = 23 * 60
  expect(createRollUpFailures(path).has('days', 1)).toBe(true)
  minutes = 25 * 60
  expect(createRollUpFailures(path).has('days', 1)).toBe(false)
})

test('a clock that was ahead delays nothing for more than an hour', () => {
  die(1)
  die(2)
  const ahead = JSON.parse(readFileSync(path, 'utf8'))
  const year = 365 * 24 * 60 * MINUTE_MS
  ahead.until += year
  for (const [, failure] of ahead.failed) failure.until += year
  writeFileSync(path, JSON.stringify(ahead))
  const { isResting } = createRollUpFailures(path)
  expect(isResting('days', 1)).toBe(true)
  minutes = 61
  expect(isResting('days', 1)).toBe(false)
})

test.each(['', '{"deaths":1', 'null', '[]'])('a file that cannot be read says nothing: %j', (text) => {
  writeFileSync(path, text)
  expect(listResting()).toEqual([])
})
