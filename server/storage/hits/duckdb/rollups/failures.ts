// Stores failed roll-ups, so that the roller does not repeat the same one immediately. They are in a small file beside the
// database for the next process, because this one can end when it is idle, or crash during a roll-up.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { describeError, log } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import { isEngineDead } from '../damage-watch.ts'
import { isOutOfMemory } from '../query.ts'
import type { RollUpTask } from './roll-day.ts'

/** The pause of a day or month after its first failure, and after each later one. The others continue. */
const FIRST_REST_MS = 10 * 60_000
const LATER_REST_MS = 60 * 60_000

export interface RollUpFailures {
  /** @returns true if the day, or the month that begins on it, has failed since its last roll-up */
  has(kind: RollUpTask['kind'], start: number): boolean
  isResting(kind: RollUpTask['kind'], start: number): boolean
  /**
   * Call it before a roll-up. Until one of the next three is called, the file records that the roll-up has crashed the engine.
   * @throws when the file cannot be written. A disk without space for it has no space for sums.
   */
  begin(task: RollUpTask): void
  succeed(): void
  fail(error: unknown): void
  /** The roll-up was abandoned for a reason outside it. */
  withdraw(): void
}

interface FailureState {
  /** The number of roll-ups that have crashed the engine since the last success. */
  deaths: number
  /** The end of the pause of all roll-ups. */
  until: number
  failed: ReadonlyMap<string, Failure>
}

interface Failure {
  times: number
  until: number
}

const NO_FAILURES: FailureState = { deaths: 0, until: 0, failed: new Map() }

export function createRollUpFailures(path: string): RollUpFailures {
  let state = readFailures(path)
  let before = state
  let task: RollUpTask | undefined
  const set = (next: FailureState) => {
    state = next
    // The next `begin` writes the file again. Until then, it has one failure too many.
    tryToWrite(path, next)
  }
  return {
    has: (kind, start) => state.failed.has(toKey(kind, start)),
    isResting: (kind, start) =>
      readClock() < Math.max(state.until, state.failed.get(toKey(kind, start))?.until ?? 0),
    begin(begun) {
      before = state
      task = begun
      const deaths = before.deaths + 1
      // The cause of two crashes can affect every day, for example a full disk.
      const until = deaths > 1 ? readClock() + toRest(deaths - 1) : 0
      state = { deaths, until, failed: addFailure(before.failed, begun) }
      writeFailures(path, state)
    },
    succeed() {
      const failed = new Map(state.failed)
      if (task) failed.delete(toKey(task.kind, task.start))
      set({ ...NO_FAILURES, failed })
    },
    fail(error) {
      if (!task) return
      const isTooLarge = isOutOfMemory(error)
      const event = isTooLarge ? 'hits.roll_up_too_large' : 'hits.roll_up_failed'
      const start = new Date(task.start * DAY_MS).toISOString()
      log.error(event, { rollUp: task.kind, start, ...describeError(error) })
      if (isEngineDead(error)) return
      // In ten minutes there will not be more memory.
      const failed = isTooLarge ? addFailure(before.failed, task, LATER_REST_MS) : state.failed
      set({ ...before, failed })
    },
    withdraw: () => set(before),
  }
}

const toKey = (kind: RollUpTask['kind'], start: number) => `${kind}/${start}`

const toRest = (times: number) => (times > 1 ? LATER_REST_MS : FIRST_REST_MS)

/** Milliseconds since the epoch. Steps of the clock do not change it while the process runs. */
const readClock = () => performance.timeOrigin + performance.now()

function addFailure(
  failed: FailureState['failed'],
  { kind, start }: RollUpTask,
  restMs?: number,
): FailureState['failed'] {
  const key = toKey(kind, start)
  const times = (failed.get(key)?.times ?? 0) + 1
  return new Map(failed).set(key, { times, until: readClock() + (restMs ?? toRest(times)) })
}

function readFailures(path: string): FailureState {
  try {
    const { deaths, until, failed } = JSON.parse(readFileSync(path, 'utf8'))
    const now = readClock()
    // The clock may have been ahead.
    const limit = (each: number) => Math.min(Number(each), now + LATER_REST_MS)
    const entries = (failed as [string, Failure][]).map(
      ([key, each]) => [key, { times: Number(each.times), until: limit(each.until) }] as const,
    )
    // Otherwise days with deleted hits would stay in the file.
    const recent = entries.filter(([, each]) => each.until > now - DAY_MS)
    if (until > now) log.warn('hits.roll_ups_rest', { deaths, until: new Date(limit(until)).toISOString() })
    return { deaths: Number(deaths), until: limit(until), failed: new Map(recent) }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
      log.warn('hits.roll_up_failures_unreadable', { path, ...describeError(error) })
    return NO_FAILURES
  }
}

/** Not synced: a power loss only loses pauses, and no roll-up causes a power loss. */
function writeFailures(path: string, { failed, ...rest }: FailureState): void {
  const half = `${path}.half`
  try {
    if (failed.size === 0 && rest.deaths === 0) rmSync(path, { force: true })
    else {
      writeFileSync(half, JSON.stringify({ ...rest, failed: [...failed] }), { mode: 0o600 })
      // A full disk must not empty the file.
      renameSync(half, path)
    }
  } catch (error) {
    rmSync(half, { force: true })
    throw error
  }
}

function tryToWrite(path: string, state: FailureState): void {
  try {
    writeFailures(path, state)
  } catch (error) {
    log.warn('hits.roll_up_failures_not_written', { path, ...describeError(error) })
  }
}
