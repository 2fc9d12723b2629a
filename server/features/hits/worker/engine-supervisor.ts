// Supervises a hit engine: opens it, loads every batch above its marks, and opens it again after a crash. The engine
// answers questions at any time. While there is no engine, questions fail as unavailable.

import { type Backoff, createBackoff } from '../../../lib/concurrency/backoff.ts'
import { createSerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { createWaitList, type WaitList } from '../../../lib/concurrency/wait-list.ts'
import { unavailable } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { HitEngine } from '../../../storage/hits/hit-engine.ts'
import { type BatchLoading, isEverythingLoaded, loadBatches, repairRefused } from './load-batches.ts'

/** After this number of failures questions do not wait for the next attempt, which can be 10 s away. */
const FAILURES_OF_AN_OUTAGE = 3

export interface EngineSupervisor {
  /** Runs work with the engine. @throws `unavailable` while there is no engine, or if it dies during the work */
  use<T>(work: (engine: HitEngine) => Promise<T>): Promise<T>
  /**
   * Runs work with the engine while no batch is being loaded.
   * @throws `unavailable` as `use` does, and while it is unknown whether the last batch was loaded
   */
  useBetweenLoads(work: (engine: HitEngine) => Promise<void>): Promise<void>
  /** Call it when there are new batches. */
  wake(): void
  /** The last batch of a node that the engine is known to have. */
  mark(node: string): number
  isUp(): boolean
  /** The number of times since the start that the engine could not be opened, or died. */
  countFailures(): number
  /** True if the engine is up, and has accepted the last batch. */
  canLoad(): boolean
  /** Resolves when the first attempt to open the engine has succeeded or failed. */
  firstAttempt: Promise<void>
  /** Resolves when all batches are loaded, or cannot be loaded now. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface EngineSupervisorOptions extends Pick<BatchLoading, 'batches' | 'repair'> {
  open(): Promise<HitEngine>
  /** This node. Its mark is known as soon as the engine is open. */
  node: string
  /** Called when the engine was opened, has loaded a batch, or has died. */
  onChange(): void
}

interface OpenEngine {
  engine: HitEngine
  /** Rejected when a question finds the engine dead. */
  broken: PromiseWithResolvers<never>
}

interface SupervisorState extends BatchLoading, EngineSupervisorOptions {
  current: OpenEngine | null
  closed: boolean
  /** The last pass failed, and the engine is alive. */
  degraded: boolean
  /** The number of consecutive times that the engine could not be opened, or died. */
  failures: number
  allFailures: number
  readonly backoff: Backoff
  /** Resolved when there is work. Each pass creates a new one. */
  wakeSignal: PromiseWithResolvers<void>
  /** Ends the current pause, if there is one. */
  endPause(): void
  readonly firstAttempt: PromiseWithResolvers<void>
  /** Callers of `settled`. */
  readonly settling: WaitList
}

export function openEngineSupervisor(options: EngineSupervisorOptions): EngineSupervisor {
  const supervisor: SupervisorState = {
    ...options,
    marks: new Map(),
    refused: null,
    current: null,
    closed: false,
    degraded: false,
    failures: 0,
    allFailures: 0,
    backoff: createBackoff(),
    wakeSignal: Promise.withResolvers(),
    endPause: () => {},
    firstAttempt: Promise.withResolvers(),
    settling: createWaitList(),
    loadQueue: createSerialQueue(),
  }
  const running = run(supervisor)
  return {
    use: (work) => useEngine(supervisor, work),
    useBetweenLoads: (work) =>
      supervisor.loadQueue(() => {
        if (supervisor.refused) throw unavailable('A batch is not loaded yet', 1)
        return useEngine(supervisor, work)
      }),
    wake: () => supervisor.wakeSignal.resolve(),
    mark: (node) => supervisor.marks.get(node) ?? 0,
    isUp: () => supervisor.current !== null,
    countFailures: () => supervisor.allFailures,
    canLoad: () => supervisor.current !== null && supervisor.refused === null,
    firstAttempt: supervisor.firstAttempt.promise,
    settled: () => waitUntilSettled(supervisor),
    async close() {
      supervisor.closed = true
      supervisor.wakeSignal.resolve()
      supervisor.endPause()
      await running
      supervisor.settling.release()
    },
  }
}

async function run(supervisor: SupervisorState) {
  while (!supervisor.closed) {
    await runEngine(supervisor)
    if (!supervisor.closed) await pause(supervisor)
  }
}

/** Opens the engine and loads batches, until it dies or must close. */
async function runEngine(supervisor: SupervisorState) {
  const { node, marks, firstAttempt } = supervisor
  let engine: HitEngine | null = null
  try {
    engine = await supervisor.open()
    marks.clear()
    marks.set(node, await engine.mark(node))
    const broken = Promise.withResolvers<never>()
    broken.promise.catch(() => undefined)
    const opened = { engine, broken }
    supervisor.current = opened
    supervisor.failures = 0
    firstAttempt.resolve()
    supervisor.onChange()
    await feedEngine(supervisor, opened)
  } catch (error) {
    log.error('hit_engine_down', describeError(error))
    supervisor.failures++
    supervisor.allFailures++
    firstAttempt.resolve()
  }
  supervisor.current = null
  supervisor.onChange()
  supervisor.settling.release()
  await engine?.close().catch((error) => log.error('hit_engine_close_failed', describeError(error)))
}

/** Resolves when the engine must close. @throws when the engine dies */
async function feedEngine(supervisor: SupervisorState, { engine, broken }: OpenEngine) {
  while (!supervisor.closed) {
    supervisor.wakeSignal = Promise.withResolvers()
    try {
      await loadBatches(supervisor, engine, broken.promise, () => supervisor.closed)
      supervisor.degraded = false
      supervisor.backoff.reset()
    } catch (error) {
      if (!(await isAlive(engine))) throw error
      supervisor.degraded = true
      log.error('hit_batch_not_loaded', describeError(error))
      if (await repairRefused(supervisor)) continue
      supervisor.settling.release()
      await pause(supervisor)
      continue
    }
    if (isEverythingLoaded(supervisor)) supervisor.settling.release()
    await Promise.race([supervisor.wakeSignal.promise, broken.promise])
  }
}

/** True if the engine still answers. An invalid question or batch fails alone; a dead engine fails all. */
async function isAlive(engine: HitEngine): Promise<boolean> {
  try {
    await engine.mark('')
    return true
  } catch {
    return false
  }
}

async function pause(supervisor: SupervisorState) {
  const pause = Promise.withResolvers<void>()
  const timer = setTimeout(pause.resolve, supervisor.backoff.nextMs())
  supervisor.endPause = pause.resolve
  await pause.promise
  clearTimeout(timer)
}

async function useEngine<T>(
  supervisor: SupervisorState,
  work: (engine: HitEngine) => Promise<T>,
): Promise<T> {
  const used = supervisor.current
  if (!used) throw unavailable('The hit engine is away', 1)
  try {
    return await work(used.engine)
  } catch (error) {
    if (supervisor.current === used && (await isAlive(used.engine))) throw error
    used.broken.reject(error)
    throw unavailable(error, 1)
  }
}

async function waitUntilSettled(supervisor: SupervisorState) {
  const isAway = supervisor.failures >= FAILURES_OF_AN_OUTAGE
  if (supervisor.closed || supervisor.degraded || isAway || isEverythingLoaded(supervisor)) return
  const settled = supervisor.settling.wait()
  supervisor.wakeSignal.resolve()
  await settled
}
