// Records the processor time of each test and each file, for the report of run.ts. A wall clock would also count
// other processes.

import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { takeLiftedBudget } from '../suite.ts'

/** The budgets of a test and of a file in the quick suite. A test that says `quick` has no budget, and is not counted. */
export const BUDGET_MS = { test: 200, file: 5_000 }

/** A file's costs, in milliseconds of processor time. */
export interface FileCosts {
  file: string
  /** With its child processes that have ended. */
  totalMs: number
  /** The costs of this process alone, in the order in which the tests ran. */
  tests: { ms: number; hasBudget: boolean }[]
  /** How many times as long as on a quiet machine a known piece of work takes. At least 1. */
  slowness: number
}

/** The time of `workAWhile` on a quiet machine with the processors of 2023. */
const QUIET_WORK_MS = 20

/** Call it once in the process of a test run, before the first file. @param path the file that gets a line per test file */
export function noteCosts(path: string): void {
  let totalBefore = 0
  let tests: FileCosts['tests'] = []
  let before = process.cpuUsage()
  beforeAll(() => {
    totalBefore = readTreeMs()
    tests = []
  })
  beforeEach(() => {
    before = process.cpuUsage()
  })
  afterEach(() => {
    const { user, system } = process.cpuUsage(before)
    tests.push({ ms: (user + system) / 1000, hasBudget: !takeLiftedBudget() })
  })
  afterAll(() => {
    const totalMs = readTreeMs() - totalBefore
    const isDear = totalMs > BUDGET_MS.file || tests.some(({ ms }) => ms > BUDGET_MS.test)
    const costs: FileCosts = { file: Bun.main, totalMs, tests, slowness: isDear ? measureSlowness() : 1 }
    appendFileSync(path, `${JSON.stringify(costs)}\n`)
  })
}

/** proc(5): utime, stime, and those of the children that were waited for, in ticks of 10 ms. */
function readTreeMs(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
  } catch {
    return process.cpuUsage().user / 1000 // not Linux
  }
}

/** Neighbors that burn the same core make each instruction slower, in processor time too. */
function measureSlowness(): number {
  const before = process.cpuUsage()
  workAWhile()
  const { user, system } = process.cpuUsage(before)
  return Math.max(1, (user + system) / 1000 / QUIET_WORK_MS)
}

function workAWhile() {
  const rows = Array.from({ length: 4_000 }, (_, n) => ({ id: n, name: `row ${n}`, tags: ['a', 'b'] }))
  for (let round = 0; round < 12; round++) {
    const text = JSON.stringify(JSON.parse(JSON.stringify(rows)))
    createHash('sha256').update(text).digest('hex')
  }
}
