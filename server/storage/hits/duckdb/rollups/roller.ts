// Rolls up closed days and months, one transaction after the other, while loads and questions run.

import type { DuckDBConnection } from '@duckdb/node-api'
import type { SerialQueue } from '../../../../lib/concurrency/serial-queue.ts'
import type { RollUpProgress } from '../../hit-engine.ts'
import type { DaySpan } from '../../rollups/plan-days.ts'
import { isDamage, isEngineDead } from '../damage-watch.ts'
import type { ReadWriteLock } from '../read-write-lock.ts'
import { runTransaction } from '../transaction.ts'
import { createRollUpFailures } from './failures.ts'
import { findHitDays, findRollUpTask, type RollUpConnection, type RollUpTask, rollUp } from './roll-day.ts'

/** The wait after the last loaded hits of a day, because more of them may come. */
const REST_MS = 60_000
/** The number of days tried in one call, if hits arrive for each while it is rolled up. */
const ATTEMPTS = 3

export interface Roller {
  /** Call it in the write queue for the days of hits that were loaded. */
  noteLoaded(days: readonly number[]): void
  /** See `RollUpState`. @param read is called for the first question after the file was opened */
  hitDays(read: (find: (reader: DuckDBConnection) => Promise<DaySpan>) => Promise<DaySpan>): Promise<DaySpan>
  /**
   * Rolls up one day, or one month. Meanwhile no other work may use the connection, and no deletion may run.
   * @throws when the roll-ups or hits are damaged, the engine is dead, or the file is being closed
   */
  rollUp(now: number): Promise<RollUpProgress>
}

export interface RollerNeeds {
  /** A connection beside the writer's. */
  connection: DuckDBConnection
  /** Every load runs in it. */
  writeQueue: SerialQueue
  lock: ReadWriteLock
  /** See `createRollUpFailures`. */
  failuresPath: string
  isClosing(): boolean
  restMs?: number
  /** See `toHeadStatement`. */
  headValues?: number
}

export function createRoller({
  connection,
  writeQueue,
  lock,
  failuresPath,
  isClosing,
  restMs = REST_MS,
  headValues,
}: RollerNeeds): Roller {
  const loaded = createLoadedDays(restMs)
  const failures = createRollUpFailures(failuresPath)
  const hitDays = createHitDays()
  const isResting = (kind: RollUpTask['kind'], day: number) =>
    failures.isResting(kind, day) || (kind === 'days' && loaded.isRecent(day))
  const rests = { isResting, hasFailed: failures.has }
  const statements = refuseWhenClosing(connection, isClosing)

  /** While this runs, no load is between its insert and its commit. Later loads find the mark. */
  const commit = async <T>(task: RollUpTask, run: () => Promise<T>): Promise<T> => {
    // Loads continue while questions run.
    await lock.quiet()
    return writeQueue(async () => {
      if (loaded.isChanged(task)) throw new DayChanged()
      return lock.exclusive(run)
    })
  }

  /** @returns also `isChanged` if no day was rolled up because hits came meanwhile */
  async function rollUpNext(now: number): Promise<RollUpProgress & { isChanged?: boolean }> {
    // Cleared before hits or marks are read, because the result can lack later loads.
    loaded.changed.clear()
    const { task, waiting, ...found } = await findRollUpTask(statements, now, rests)
    hitDays.set(found.hitDays, loaded.changed)
    if (!task) return { rolled: 0, waiting }
    try {
      failures.begin(task)
      await runTransaction(
        connection,
        () => rollUp(statements, task, headValues),
        (run) => commit(task, run),
      )
    } catch (error) {
      const isChanged = error instanceof DayChanged
      const isOfTask = !isChanged && !isDamage(error) && !isClosing()
      if (isOfTask) failures.fail(error)
      else failures.withdraw()
      if (isChanged) return { rolled: 0, waiting, isChanged }
      // The supervisor of the engine must see this error.
      if (!isOfTask || isEngineDead(error)) throw error
      return { rolled: 0, waiting, failed: true }
    }
    failures.succeed()
    return toProgress(task, waiting)
  }

  return {
    noteLoaded(days) {
      loaded.note(days)
      hitDays.add(days)
    },
    hitDays: async (read) => hitDays.get() ?? hitDays.set(await read(findHitDays), loaded.changed),
    async rollUp(now) {
      let progress = await rollUpNext(now)
      for (let attempt = 1; progress.isChanged && attempt < ATTEMPTS; attempt++)
        progress = await rollUpNext(now)
      const { isChanged, ...result } = progress
      return result
    },
  }
}

function createLoadedDays(restMs: number) {
  /** When hits of a day were loaded last, on the monotonic clock. */
  const loadedAt = new Map<number, number>()
  /** Days whose hits were loaded since the transaction began, which does not see them. */
  const changed = new Set<number>()
  const isRecent = (day: number) => {
    const at = loadedAt.get(day)
    return at !== undefined && performance.now() - at < restMs
  }
  return {
    changed,
    isRecent,
    isChanged: ({ start, end }: RollUpTask) => [...changed].some((day) => day >= start && day < end),
    note(days: readonly number[]) {
      for (const day of days) {
        loadedAt.set(day, performance.now())
        changed.add(day)
      }
      for (const day of loadedAt.keys()) if (!isRecent(day)) loadedAt.delete(day)
    },
  }
}

/** Caches `RollUpState.hitDays`, so that questions need not read it. */
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

/** Closing the file interrupts only the running statement, so this refuses later ones. */
function refuseWhenClosing(connection: DuckDBConnection, isClosing: () => boolean): RollUpConnection {
  const refuse = () => {
    if (isClosing()) throw new Error('The hit file is being closed')
  }
  return {
    async run(...statement) {
      refuse()
      return connection.run(...statement)
    },
    async runAndReadAll(...statement) {
      refuse()
      return connection.runAndReadAll(...statement)
    },
  }
}

class DayChanged extends Error {
  constructor() {
    super('Hits of the day came while it was rolled up')
  }
}
