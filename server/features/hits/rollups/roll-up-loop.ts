// Rolls up closed days in the background, one after another, while the hit worker has nothing more urgent to do.

import type { SerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { RollUpProgress } from '../../../storage/hits/hit-engine.ts'

export interface RollUpPace {
  /** The shortest pause after a day. A day that took longer is followed by a pause as long as it took. */
  pauseMs: number
  /** Interval of checks while more urgent work waits. */
  retryMs: number
  /** Interval of checks when no day can be rolled up, and after a failure. */
  lookEveryMs: number
  /** How long waiting or failing days keep the worker running, after its start and after each roll-up. */
  stayMs: number
  /** The wait of a day after new hits. By default the engine decides. */
  restMs?: number
}

export const ROLL_UP_PACE: RollUpPace = {
  pauseMs: 20,
  retryMs: 1000,
  lookEveryMs: 60_000,
  stayMs: 10 * 60_000,
}

export interface RollUpLoopNeeds {
  rollUp(): Promise<RollUpProgress>
  /** @returns true if no more urgent work waits */
  mayRun(): boolean
  /** The queue of work that never runs beside a roll-up. */
  queue: SerialQueue
  onChange(): void
  pace: RollUpPace
}

export interface RollUpStats {
  /** The number of closed days that are not rolled up. Undefined before the first check. */
  waiting: number | undefined
  /** Days and months that were rolled up. */
  made: number
  failures: number
}

export interface RollUpLoop {
  /** True if a roll-up runs, or a day can be rolled up now, or will be possible soon (limited by `stayMs`). */
  isBusy(): boolean
  stats(): RollUpStats
  /** Resolves when the running roll-up has ended. No other one starts. */
  close(): Promise<void>
}

interface LoopState extends RollUpLoopNeeds {
  readonly stats: RollUpStats
  /** True if there may be a day to roll up now. */
  isDue: boolean
  /** On the monotonic clock: the time until which waiting or failing days keep the worker running. */
  stayUntil: number
  /** True if the last roll-up failed. */
  isFailing: boolean
  /** The last error since a roll-up succeeded. */
  lastError: string | undefined
  /** Roll-ups since the last time that none was left. */
  inRow: number
  current: Promise<unknown> | null
  closed: boolean
  /** Ends the current pause, if there is one. */
  endPause(): void
}

export function openRollUpLoop(needs: RollUpLoopNeeds): RollUpLoop {
  const loop: LoopState = {
    ...needs,
    stats: { waiting: undefined, made: 0, failures: 0 },
    isDue: true,
    stayUntil: performance.now() + needs.pace.stayMs,
    isFailing: false,
    lastError: undefined,
    inRow: 0,
    current: null,
    closed: false,
    endPause: () => {},
  }
  void run(loop)
  return {
    isBusy: () => loop.current !== null || ((loop.isDue || isWaiting(loop)) && loop.mayRun()),
    stats: () => ({ ...loop.stats }),
    async close() {
      loop.closed = true
      loop.endPause()
      await loop.current
    },
  }
}

/** After a failure another day is tried at the next check, before the worker ends. */
const isWaiting = ({ stats, isFailing, stayUntil }: LoopState) =>
  (isFailing || (stats.waiting ?? 0) > 0) && performance.now() < stayUntil

async function run(loop: LoopState) {
  const { pace } = loop
  // The work that started the worker comes first.
  await pause(loop, pace.retryMs)
  while (!loop.closed) {
    if (loop.mayRun()) await loop.queue(() => rollUpIfAllowed(loop)).then((ms) => pause(loop, ms))
    // Random, so that it is not in step with the timer of batches, which would then wait at each check.
    else await pause(loop, pace.retryMs * (0.5 + Math.random()))
  }
}

/** @returns the pause afterwards */
async function rollUpIfAllowed(loop: LoopState): Promise<number> {
  // Earlier work in the queue may have taken long.
  if (loop.closed || !loop.mayRun()) return loop.pace.retryMs
  const turn = rollUpOnce(loop)
  loop.current = turn
  const pauseMs = await turn
  loop.current = null
  loop.onChange()
  return pauseMs
}

/** Runs the next roll-up. Never rejects. @returns the pause before the next call */
async function rollUpOnce(loop: LoopState): Promise<number> {
  const { stats, pace } = loop
  const began = performance.now()
  try {
    const { rolled, waiting, failed = false } = await loop.rollUp()
    loop.isFailing = failed
    if (failed) stats.failures++
    else loop.lastError = undefined
    loop.isDue = rolled > 0
    stats.waiting = waiting
    if (rolled > 0) {
      stats.made += rolled
      loop.stayUntil = performance.now() + pace.stayMs
      loop.inRow += rolled
      return Math.max(pace.pauseMs, performance.now() - began)
    }
    if (loop.inRow > 0) log.info('days_rolled_up', { rollUps: loop.inRow, waiting })
    loop.inRow = 0
  } catch (error) {
    // Closing the engine interrupts the roll-up.
    if (loop.closed) return 0
    stats.failures++
    const { message } = error instanceof Error ? error : { message: String(error) }
    // A full disk would otherwise also fill the log.
    if (message !== loop.lastError) log.error('roll_up_failed', describeError(error))
    loop.lastError = message
    loop.isFailing = true
    loop.isDue = false
  }
  return pace.lookEveryMs
}

async function pause(loop: LoopState, ms: number): Promise<void> {
  if (loop.closed) return
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, ms)
  loop.endPause = over.resolve
  await over.promise
  clearTimeout(timer)
}
