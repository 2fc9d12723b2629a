// Rolls up what is closed, one transaction after the other, beside loads and questions.

import type { DuckDBConnection } from '@duckdb/node-api'
import type { SerialQueue } from '../../../../lib/concurrency/serial-queue.ts'
import { describeError, log } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { RollUpProgress } from '../../hit-engine.ts'
import { isOutOfMemory } from '../query.ts'
import type { ReadWriteLock } from '../read-write-lock.ts'
import { runTransaction } from '../transaction.ts'
import { findRollUpTask, type RollUpTask, rollUp } from './roll-day.ts'

/** A day whose hits came just now waits for so long: more of them may come. */
const REST_MS = 60_000
/** A day or month that needed more memory than there is waits for so long. The others go on. */
const TOO_LARGE_REST_MS = 60 * 60_000
/** How often another day is tried at once, when hits came to the one that was rolled up. */
const ATTEMPTS = 3

export interface Roller {
  /** Call it in the write queue for the days of hits that were loaded. */
  noteLoaded(days: readonly number[]): void
  /** Rolls up one day, or one month. Nothing else may use the connection, and no deletion may run beside it. */
  rollUp(now: number): Promise<RollUpProgress>
}

export interface RollerNeeds {
  /** A connection beside the writer's. */
  connection: DuckDBConnection
  /** Every load runs in it. */
  writeQueue: SerialQueue
  lock: ReadWriteLock
  restMs?: number
  /** See `toHeadStatement`. */
  headValues?: number
}

export function createRoller({
  connection,
  writeQueue,
  lock,
  restMs = REST_MS,
  headValues,
}: RollerNeeds): Roller {
  /** When hits of a day were loaded last, on the monotonic clock. */
  const loadedAt = new Map<number, number>()
  /** Days whose hits were loaded since the transaction began, which does not see them. */
  const changed = new Set<number>()
  /** When a day or month needed too much memory. */
  const tooLargeAt = new Map<string, number>()
  const isResting = (kind: RollUpTask['kind'], day: number) =>
    isRecent(tooLargeAt.get(toTaskKey(kind, day)), TOO_LARGE_REST_MS) ||
    (kind === 'days' && isRecent(loadedAt.get(day), restMs))
  const isChanged = ({ start, end }: RollUpTask) => [...changed].some((day) => day >= start && day < end)

  /** No load is between its hits and its commit while this runs, and later loads find the mark. */
  const commit = async <T>(task: RollUpTask, run: () => Promise<T>): Promise<T> => {
    // Loads go on while questions run.
    await lock.quiet()
    return writeQueue(async () => {
      if (!isChanged(task)) return lock.exclusive(run)
      await connection.run('ROLLBACK')
      throw new DayChanged()
    })
  }

  /** @returns also whether nothing was rolled up because hits came meanwhile */
  async function rollUpNext(now: number): Promise<RollUpProgress & { isChanged?: boolean }> {
    // Before anything of the hits or marks is read: what is loaded from here on may be missing in it.
    changed.clear()
    const { task, waiting } = await findRollUpTask(connection, now, isResting)
    if (!task) return { rolled: 0, waiting }
    try {
      await runTransaction(
        connection,
        () => rollUp(connection, task, headValues),
        (run) => commit(task, run),
      )
    } catch (error) {
      if (error instanceof DayChanged) return { rolled: 0, waiting, isChanged: true }
      if (isOutOfMemory(error)) {
        logTooLarge(task, error)
        tooLargeAt.set(toTaskKey(task.kind, task.start), performance.now())
      }
      throw error
    }
    return toProgress(task, waiting)
  }

  return {
    noteLoaded(days) {
      for (const day of days) {
        loadedAt.set(day, performance.now())
        changed.add(day)
      }
      for (const [day, at] of loadedAt) if (!isRecent(at, restMs)) loadedAt.delete(day)
    },
    async rollUp(now) {
      let progress = await rollUpNext(now)
      for (let attempt = 1; progress.isChanged && attempt < ATTEMPTS; attempt++)
        progress = await rollUpNext(now)
      return { rolled: progress.rolled, waiting: progress.waiting }
    },
  }
}

function toProgress({ kind, start, end }: RollUpTask, waiting: number): RollUpProgress {
  if (kind === 'month') return { rolled: 1, waiting }
  return { rolled: end - start, waiting: Math.max(0, waiting - (end - start)) }
}

const isRecent = (at: number | undefined, ms: number) => at !== undefined && performance.now() - at < ms

const toTaskKey = (kind: RollUpTask['kind'], day: number) => `${kind}/${day}`

function logTooLarge({ kind, start }: RollUpTask, error: unknown) {
  const day = new Date(start * DAY_MS).toISOString()
  log.error('hits.roll_up_too_large', { rollUp: kind, start: day, ...describeError(error) })
}

class DayChanged extends Error {
  constructor() {
    super('Hits of the day came while it was rolled up')
  }
}
