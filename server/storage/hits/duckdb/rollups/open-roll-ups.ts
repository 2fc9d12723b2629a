// Opens the roll-ups of a DuckDB file: builds them, answers from them, and drops them if they are damaged.

import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../../lib/log.ts'
import type { RollUpProgress } from '../../hit-engine.ts'
import type { ReadConnections } from '../connections.ts'
import { type DamageWatch, isDamage } from '../damage-watch.ts'
import { createQueryRunner } from '../query.ts'
import { createExplainer, type QuestionExplainer } from './ask.ts'
import { checkRollUps } from './marks.ts'
import { createRoller, type RollerNeeds } from './roller.ts'
import { dropRollUps, prepareRollUps, recreateRollUps } from './tables.ts'

export interface RollUpOptions {
  /** For comparisons: answers from hits only. Roll-ups are still built. */
  withoutRollUps?: boolean | (() => boolean)
  /** See `createRoller`. */
  rollUpRestMs?: number
  /** See `toHeadStatement`. */
  rollUpHeadValues?: number
}

export interface RollUps {
  explain: QuestionExplainer
  /** Call it in the write queue for the days of hits that were loaded. */
  noteLoaded(days: readonly number[]): void
  /** See `HitEngine.rollUp`. */
  rollUp(now: number): Promise<RollUpProgress>
  /**
   * Runs work that deletes marks or sums. If it fails because roll-ups are unreadable, they are dropped, and the work runs once
   * more. Call it neither in the write queue nor in `runAlone`.
   */
  withRepair<T>(work: () => Promise<T>): Promise<T>
  /** Interrupts what runs. */
  close(): Promise<void>
}

interface RollUpNeeds extends Omit<RollerNeeds, 'isClosing'> {
  readers: Pick<ReadConnections, 'use'>
  /** Runs work while no hits are sorted or deleted, and no other work of this kind runs. */
  runAlone<T>(work: () => Promise<T>): Promise<T>
  /** The connection that may run a checkpoint while nothing else runs. */
  writer: DuckDBConnection
  /** Reads every value of the hits. @throws when one cannot be read */
  readAllHits(connection: DuckDBConnection): Promise<unknown>
  watchDamage: DamageWatch
}

/** @param options of the engine */
export function openRollUps(needs: RollUpNeeds, options: RollUpOptions): RollUps {
  const { readers, writeQueue, writer, connection, lock } = needs
  const { withoutRollUps, rollUpRestMs: restMs, rollUpHeadValues: headValues } = options
  const askHits = createQueryRunner(readers)
  /** The number of times that the roll-ups were dropped. */
  let drops = 0
  const turns = createTurns(needs)
  const roller = createRoller({ ...needs, restMs, headValues, isClosing: turns.isClosing })

  /** @param seen `drops` before the damage was found: if they were dropped since then, the damage is gone */
  async function drop(seen: number) {
    if (drops !== seen) return
    await writeQueue(() => recreateRollUps(writer, lock.exclusive))
    drops++
  }

  /** @throws when hits are unreadable too, so that the damage watch sees it */
  async function dropUnlessHitsAreDamaged(seen: number) {
    await needs.readAllHits(connection)
    await drop(seen)
  }

  async function rollUpOrDrop(now: number): Promise<RollUpProgress> {
    try {
      return await roller.rollUp(now)
    } catch (error) {
      if (!isDamage(error)) throw error
      await dropUnlessHitsAreDamaged(drops)
      throw new Error('The roll-ups were damaged. They are made again.')
    }
  }

  async function withRepair<T>(work: () => Promise<T>): Promise<T> {
    const seen = drops
    try {
      return await work()
    } catch (error) {
      if (!isDamage(error)) throw error
      log.error('hits.roll_ups_damaged', describeError(error))
      await turns.run(() => dropUnlessHitsAreDamaged(seen))
      if (turns.isClosing()) throw new Error('The hit file was closed before its roll-ups were dropped')
      return work()
    }
  }

  const isRaw = typeof withoutRollUps === 'function' ? withoutRollUps : () => withoutRollUps === true
  const explain = createExplainer({
    readers,
    askHits,
    hitDays: roller.hitDays,
    countDrops: () => drops,
    onDamage(seen, areHitsRead) {
      needs
        .watchDamage(() => turns.run(() => (areHitsRead ? drop(seen) : dropUnlessHitsAreDamaged(seen))))
        .catch((error) => log.error('hits.roll_ups_not_dropped', describeError(error)))
    },
  })

  return {
    explain: async (query) => (isRaw() ? { answers: await askHits(query), origin: [] } : explain(query)),
    noteLoaded: roller.noteLoaded,
    rollUp: async (now) => (await turns.run(() => rollUpOrDrop(now))) ?? { rolled: 0, waiting: 0 },
    withRepair,
    close: turns.close,
  }
}

interface Turns {
  /** Runs work alone. @returns undefined if the file is being closed */
  run<T>(work: () => Promise<T>): Promise<T | undefined>
  isClosing(): boolean
  /** Interrupts running work, and refuses further work. */
  close(): Promise<void>
}

function createTurns({ runAlone, connection }: Pick<RollUpNeeds, 'runAlone' | 'connection'>): Turns {
  let isClosing = false
  let isRunning = false
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(work) {
      const turn = runAlone(async () => {
        if (isClosing) return undefined
        isRunning = true
        try {
          return await work()
        } finally {
          isRunning = false
        }
      })
      last = turn.catch(() => undefined)
      return turn
    },
    isClosing: () => isClosing,
    async close() {
      isClosing = true
      if (isRunning) connection.interrupt()
      await last
    },
  }
}

/** Creates the tables, and drops incomplete or damaged roll-ups, which can be built again. */
export async function prepareOpenedRollUps(connection: DuckDBConnection): Promise<void> {
  try {
    await prepareRollUps(connection)
    const wrong = await checkRollUps(connection)
    if (wrong > 0) log.warn('hits.roll_ups_incomplete', { rollUps: wrong })
  } catch (error) {
    if (!isDamage(error)) throw error
    log.error('hits.roll_ups_damaged', describeError(error))
    // Before the checkpoint, which reads the rows that it moves.
    await dropRollUps(connection)
    await recreateRollUps(connection)
  }
}
