// Supervises a hit engine: opens it, loads every batch above its marks, and opens it again when it died. The engine
// answers questions at any time. While there is no engine, questions fail as unavailable.

import { type Backoff, createBackoff } from '../../../lib/concurrency/backoff.ts'
import { createWaitList, type WaitList } from '../../../lib/concurrency/wait-list.ts'
import { unavailable } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { HitEngine } from '../../../storage/hits/hit-engine.ts'
import { type BatchLoading, isEverythingLoaded, loadBatches, repairRefused } from './load-batches.ts'

export interface EngineSupervisor {
  /** Asks the engine something. @throws `unavailable` while there is no engine, or when the engine dies of the work */
  use<T>(work: (engine: HitEngine) => Promise<T>): Promise<T>
  /** Changes the engine's file: the engine is closed before the work and opened again after it. */
  runOffline(work: () => Promise<void>): Promise<void>
  /** Call it when there are new batches. */
  wake(): void
  /** The last batch of a node that the engine is known to hold. */
  mark(node: string): number
  isUp(): boolean
  /** Resolves when the first attempt to open the engine has succeeded or failed. */
  firstAttempt: Promise<void>
  /** Resolves when everything is loaded, or when it cannot be loaded now. */
  settled(): Promise<void>
  backup(path: string): Promise<void>
  close(): Promise<void>
}

export interface EngineSupervisorOptions extends Pick<BatchLoading, 'batches' | 'repair'> {
  open(): Promise<HitEngine>
  /** This node. Its mark is known as soon as the engine is open. */
  node: string
  /** Called when the engine was opened, has loaded a batch, or is gone. */
  onChange(): void
}

interface OpenEngine {
  engine: HitEngine
  /** Rejected when a question finds the engine dead. */
  broken: PromiseWithResolvers<never>
}

interface OfflineJob {
  work(): Promise<void>
  resolve(): void
  reject(error: unknown): void
}

interface SupervisorState extends BatchLoading, EngineSupervisorOptions {
  current: OpenEngine | null
  closed: boolean
  /** The last pass failed, and the engine is alive. */
  degraded: boolean
  readonly backoff: Backoff
  /** Resolved when there is something to do. Each pass makes a new one. */
  wakeSignal: PromiseWithResolvers<void>
  /** Ends the pause that runs, if one runs. */
  endPause(): void
  readonly firstAttempt: PromiseWithResolvers<void>
  /** Callers of `settled`. */
  readonly settling: WaitList
  readonly offlineJobs: OfflineJob[]
}

export function openEngineSupervisor(options: EngineSupervisorOptions): EngineSupervisor {
  const supervisor: SupervisorState = {
    ...options,
    marks: new Map(),
    refused: null,
    current: null,
    closed: false,
    degraded: false,
    backoff: createBackoff(),
    wakeSignal: Promise.withResolvers(),
    endPause: () => {},
    firstAttempt: Promise.withResolvers(),
    settling: createWaitList(),
    offlineJobs: [],
  }
  const running = run(supervisor)
  return {
    use: (work) => useEngine(supervisor, work),
    runOffline: (work) => addOfflineJob(supervisor, work),
    wake: () => supervisor.wakeSignal.resolve(),
    mark: (node) => supervisor.marks.get(node) ?? 0,
    isUp: () => supervisor.current !== null,
    firstAttempt: supervisor.firstAttempt.promise,
    settled: () => waitUntilSettled(supervisor),
    async backup(path) {
      if (!supervisor.current) throw unavailable('The hit engine is away')
      await supervisor.current.engine.backup(path)
    },
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
    await runOfflineJobs(supervisor)
    await runEngine(supervisor)
    if (!isStopping(supervisor)) await pause(supervisor)
  }
  for (const { reject } of supervisor.offlineJobs) reject(unavailable('The hit engine is closed', 1))
}

const isStopping = ({ closed, offlineJobs }: SupervisorState) => closed || offlineJobs.length > 0

async function runOfflineJobs(supervisor: SupervisorState) {
  const { offlineJobs } = supervisor
  for (let job = offlineJobs[0]; job && !supervisor.closed; job = offlineJobs[0]) {
    await job.work().then(job.resolve, job.reject)
    offlineJobs.shift()
  }
}

/** Opens the engine and feeds it, until it dies or is to be closed. */
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
    firstAttempt.resolve()
    supervisor.onChange()
    await feedEngine(supervisor, opened)
  } catch (error) {
    log.error('hit_engine_down', describeError(error))
    firstAttempt.resolve()
  }
  supervisor.current = null
  supervisor.onChange()
  supervisor.settling.release()
  await engine?.close().catch((error) => log.error('hit_engine_close_failed', describeError(error)))
}

/** Resolves when the engine is to be closed. @throws when the engine dies */
async function feedEngine(supervisor: SupervisorState, { engine, broken }: OpenEngine) {
  while (!isStopping(supervisor)) {
    supervisor.wakeSignal = Promise.withResolvers()
    try {
      await loadBatches(supervisor, engine, broken.promise, () => isStopping(supervisor))
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

/** Whether the engine still answers anything. A bad question or batch fails alone; a dead engine fails all of them. */
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

function addOfflineJob(supervisor: SupervisorState, work: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    if (supervisor.closed) return reject(unavailable('The hit engine is closed', 1))
    supervisor.offlineJobs.push({ work, resolve, reject })
    supervisor.wakeSignal.resolve()
    supervisor.endPause()
  })
}

async function waitUntilSettled(supervisor: SupervisorState) {
  if (supervisor.closed || supervisor.degraded || isEverythingLoaded(supervisor)) return
  const settled = supervisor.settling.wait()
  supervisor.wakeSignal.resolve()
  await settled
}
