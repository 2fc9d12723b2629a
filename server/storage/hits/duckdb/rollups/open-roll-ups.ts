// The roll-ups of an open DuckDB file: makes them, answers from them, and drops them when they are damaged.

import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../../lib/log.ts'
import type { RollUpProgress } from '../../hit-engine.ts'
import type { ReadConnections } from '../connections.ts'
import { isDamage } from '../damage-watch.ts'
import { createQueryRunner, isOutOfMemory, runStatement } from '../query.ts'
import { createExplainer, type QuestionExplainer } from './ask.ts'
import { createRoller, type RollerNeeds } from './roller.ts'
import { checkRollUps, prepareRollUps, recreateRollUps } from './tables.ts'

export interface RollUpOptions {
  /** Whether questions are answered from hits alone, to compare. Roll-ups are made all the same. */
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
  /** Interrupts what runs. */
  close(): Promise<void>
}

interface RollUpNeeds extends RollerNeeds {
  readers: Pick<ReadConnections, 'use'>
  /** Runs work while no hits are sorted or deleted, and no other work of this kind runs. */
  runAlone<T>(work: () => Promise<T>): Promise<T>
  /** The connection that may run a checkpoint while nothing else runs. */
  writer: DuckDBConnection
  /** Reads every value of the hits. @throws when one cannot be read */
  readAllHits(connection: DuckDBConnection): Promise<unknown>
}

/** @param options of the engine */
export function openRollUps(needs: RollUpNeeds, options: RollUpOptions): RollUps {
  const { readers, runAlone, writeQueue, writer, connection, lock } = needs
  const roller = createRoller({
    ...needs,
    restMs: options.rollUpRestMs,
    headValues: options.rollUpHeadValues,
  })
  const askHits = createQueryRunner(readers)
  const drop = () => writeQueue(() => recreateRollUps(writer, lock.exclusive))
  let isClosing = false
  let isRolling = false
  let running: Promise<unknown> = Promise.resolve()

  async function rollUpOrDrop(now: number): Promise<RollUpProgress> {
    if (isClosing) return { rolled: 0, waiting: 0 }
    isRolling = true
    try {
      return await roller.rollUp(now)
    } catch (error) {
      if (!isDamage(error)) throw error
      // Damaged hits are not ours to drop: whoever watches the file must know.
      await needs.readAllHits(connection)
      await drop()
      throw new Error('The roll-ups were damaged. They are made again.')
    } finally {
      isRolling = false
    }
  }

  const { withoutRollUps } = options
  const isRaw = typeof withoutRollUps === 'function' ? withoutRollUps : () => withoutRollUps === true
  const explain = createExplainer({
    readers,
    askHits,
    run: runStatement,
    isOutOfMemory,
    onDamage() {
      runAlone(drop).catch((error) => log.error('hits.roll_ups_not_dropped', describeError(error)))
    },
  })

  return {
    explain: async (query) => (isRaw() ? { answers: await askHits(query), origin: [] } : explain(query)),
    noteLoaded: roller.noteLoaded,
    rollUp(now) {
      const rolling = runAlone(() => rollUpOrDrop(now))
      running = rolling.catch(() => undefined)
      return rolling
    },
    async close() {
      isClosing = true
      if (isRolling) connection.interrupt()
      await running
    },
  }
}

/** Makes the tables, and finds roll-ups that are not whole. They can be made anew, so damage in them is no damage of the file. */
export async function prepareOpenedRollUps(connection: DuckDBConnection): Promise<void> {
  try {
    await prepareRollUps(connection)
    const wrong = await checkRollUps(connection)
    if (wrong > 0) log.warn('hits.roll_ups_incomplete', { rollUps: wrong })
  } catch (error) {
    if (!isDamage(error)) throw error
    log.error('hits.roll_ups_damaged', describeError(error))
    await recreateRollUps(connection)
  }
}
