// Rolls up what is closed, one transaction after the other, beside loads and questions.

import type { DuckDBConnection } from '@duckdb/node-api'
import type { SerialQueue } from '../../../../lib/concurrency/serial-queue.ts'
import { describeError, log } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { RollUpProgress } from '../../hit-engine.ts'
import type { DaySpan } from '../../rollups/plan-days.ts'
import { isDamage } from '../damage-watch.ts'
import { isOutOfMemory } from '../query.ts'
import type { ReadWriteLock } from '../read-write-lock.ts'
import { runTransaction } from '../transaction.ts'
import { findHitDays, findRollUpTask, type RollUpTask, rollUp } from './roll-day.ts'

/** A day whose hits came just now waits for so long: more of them may come. */
const REST_MS = 60_000
/** How long a day or month rests after its first failure, and after each later one. The others go on. */
const FAILURE_REST_MS = 10 * 60_000
const LATER_FAILURE_REST_MS = 60 * 60_000
/** How often another day is tried at once, when hits came to the one that was rolled up. */
const ATTEMPTS = 3

export interface Roller {
  /** Call it in the write queue for the days of hits that were loaded. */
  noteLoaded(days: readonly number[]): void
  /** See `RollUpState`. @param reader asks when nobody has asked since the file was opened */
  hitDays(reader: DuckDBConnection): Promise<DaySpan>
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
  const failures = createFailures()
  const hitDays = createHitDays()
  const isResting = (kind: RollUpTask['kind'], day: number) =>
    failures.isResting(kind, day) || (kind === 'days' && isRecent(loadedAt.get(day), restMs))
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
    const { task, waiting, ...found } = await findRollUpTask(connection, now, isResting)
    hitDays.set(found.hitDays, changed)
    if (!task) return { rolled: 0, waiting }
    try {
      await runTransaction(
        connection,
        () => rollUp(connection, task, headValues),
        (run) => commit(task, run),
      )
    } catch (error) {
      if (error instanceof DayChanged) return { rolled: 0, waiting, isChanged: true }
      if (isOfTask(error)) failures.note(task, error)
      throw error
    }
    failures.forget(task)
    return toProgress(task, waiting)
  }

  return {
    noteLoaded(days) {
      for (const day of days) {
        loadedAt.set(day, performance.now())
        changed.add(day)
      }
      hitDays.add(days)
      for (const [day, at] of loadedAt) if (!isRecent(at, restMs)) loadedAt.delete(day)
    },
    hitDays: async (reader) => hitDays.get() ?? hitDays.set(await findHitDays(reader), changed),
    async rollUp(now) {
      let progress = await rollUpNext(now)
      for (let attempt = 1; progress.isChanged && attempt < ATTEMPTS; attempt++)
        progress = await rollUpNext(now)
      return { rolled: progress.rolled, waiting: progress.waiting }
    },
  }
}

/** Remembers `RollUpState.hitDays`, so that no question has to ask. */
function createHitDays() {
  let known: DaySpan | undefined
  return {
    get: () => known,
    /** @param loaded days of hits that `found` may lack */
    set(found: DaySpan, loaded: Iterable<number>): DaySpan {
      known = [...loaded].reduce(addDay, found)
      return known
    },
    add(days: readonly number[]) {
      if (known) known = days.reduce(addDay, known)
    },
  }
}

const addDay = ({ start, end }: DaySpan, day: number): DaySpan =>
  start < end ? { start: Math.min(start, day), end: Math.max(end, day + 1) } : { start: day, end: day + 1 }

function toProgress({ kind, start, end }: RollUpTask, waiting: number): RollUpProgress {
  if (kind === 'month') return { rolled: 1, waiting }
  return { rolled: end - start, waiting: Math.max(0, waiting - (end - start)) }
}

const isRecent = (at: number | undefined, ms: number) => at !== undefined && performance.now() - at < ms

/** Roll-ups with damage are dropped, and then made again at once. Closing the file interrupts a roll-up. */
const isOfTask = (error: unknown) =>
  !isDamage(error) && !(error instanceof Error && error.message.startsWith('INTERRUPT'))

interface Failures {
  isResting(kind: RollUpTask['kind'], start: number): boolean
  note(task: RollUpTask, error: unknown): void
  forget(task: RollUpTask): void
}

/** Remembers the days and months that could not be rolled up, so that none of them is the next one again and again. */
function createFailures(): Failures {
  const failed = new Map<string, { times: number; until: number }>()
  const toKey = (kind: RollUpTask['kind'], start: number) => `${kind}/${start}`
  return {
    isResting: (kind, start) => performance.now() < (failed.get(toKey(kind, start))?.until ?? 0),
    note({ kind, start }, error) {
      const isTooLarge = isOutOfMemory(error)
      const event = isTooLarge ? 'hits.roll_up_too_large' : 'hits.roll_up_failed'
      log.error(event, {
        rollUp: kind,
        start: new Date(start * DAY_MS).toISOString(),
        ...describeError(error),
      })
      const times = failed.get(toKey(kind, start))?.times ?? 0
      // Ten minutes bring no memory.
      const rest = times === 0 && !isTooLarge ? FAILURE_REST_MS : LATER_FAILURE_REST_MS
      failed.set(toKey(kind, start), { times: times + 1, until: performance.now() + rest })
    },
    forget: ({ kind, start }) => void failed.delete(toKey(kind, start)),
  }
}

class DayChanged extends Error {
  constructor() {
    super('Hits of the day came while it was rolled up')
  }
}
