// Runs the hit worker: spool → batches → engine, and the answers to questions. main.ts runs it as a separate process; tests
// of other code run it in their own process.

import { describeError, log } from '../../../lib/log.ts'
import { createDailySalts, type DailySalts } from '../../visitors/salts.ts'
import { answerHitCopyRequest, isHitCopyWanted, toHitCopyPath } from '../batches/hit-copy.ts'
import { pruneUnfinishedImports } from '../batches/hit-import.ts'
import { WAITING_HITS } from '../spool/write-position.ts'
import { answerCall, cancelCall } from './answer-call.ts'
import type { ServerConnection } from './ipc.ts'
import { openWorker } from './open-worker.ts'
import { reportProgress } from './progress.ts'
import type { MessageToWorker } from './protocol.ts'
import { pruneBatches } from './prune-batches.ts'
import { importPending, ship, shipOrLog } from './ship.ts'
import type { WorkerState } from './worker-state.ts'

const SETTLE_MS = 3000

export interface WorkerHost extends ServerConnection {
  /** Called before the worker reports to the server that it is closed. */
  onClosed?(): Promise<void>
  /** Called after an unexpected error, when the engine is closed. */
  onFailed(): void
}

export interface RunningWorker {
  /** Ends the worker after an unexpected error: closes the engine properly, and the server starts another worker. */
  fail(error: unknown): void
  /** For a failed worker: ends it, and releases what a process exit would release. */
  release(): Promise<void>
}

export async function runWorker(host: WorkerHost): Promise<RunningWorker> {
  const { settings, send } = host
  const salts = createDailySalts()
  salts.set(settings.salts)
  const fail = (error: unknown) => failWorker(worker, host, error)
  const worker = await openWorker(settings, salts, { send, fail })
  startTimers(worker)
  host.onMessage((message) => {
    try {
      handleMessage(worker, salts, host, message)
    } catch (error) {
      fail(error)
    }
  })
  pruneUnfinishedImports(settings.dataDir, Date.now()).catch((error) =>
    log.warn('incoming_not_cleaned', describeError(error)),
  )
  // The first pass begins immediately: it erases raw hits that the last run has written to a batch but not erased.
  void shipOrLog(worker)
  return { fail, release: () => releaseWorker(worker) }
}

function startTimers(worker: WorkerState) {
  const { shipEveryMs, pruneEveryMs, idleMs } = worker.settings
  const logPruneFailure = (error: unknown) => log.error('prune_failed', describeError(error))
  let copying = false
  async function copyHits() {
    if (copying) return
    copying = true
    await copyHitsIfWanted(worker).catch((error) => log.error('hit_copy_failed', describeError(error)))
    copying = false
  }
  worker.timers.push(
    setInterval(() => shipWhatIsNew(worker), shipEveryMs),
    setInterval(copyHits, shipEveryMs),
    setInterval(() => pruneBatches(worker).catch(logPruneFailure), pruneEveryMs),
    setInterval(() => reportIdle(worker).catch(logPruneFailure), idleMs / 4),
  )
}

/** Reports an idle worker to the server, which then ends it unless there is new work. */
async function reportIdle(worker: WorkerState): Promise<void> {
  if (!isIdle(worker)) worker.busyAt = performance.now()
  if (worker.closing || performance.now() - worker.busyAt < worker.settings.idleMs) return
  worker.busyAt = performance.now()
  await pruneBatches(worker)
  worker.send({ type: 'idle' })
}

const isIdle = (worker: WorkerState): boolean =>
  !worker.shipping &&
  worker.activeCalls === 0 &&
  !worker.rollUps.isBusy() &&
  !worker.reader.isBehind() &&
  Atomics.load(worker.writePosition, WAITING_HITS) === 0 &&
  !worker.importer.hasFiles() &&
  worker.engine.isUp() &&
  worker.engine.mark(worker.settings.node) >= worker.lastNumber &&
  worker.clickCounts.lastCounted() >= worker.lastNumber

/**
 * Makes the copy of all hits that another process has requested (hit-copy.ts), in the maintenance queue. Meanwhile the worker
 * is not idle.
 */
async function copyHitsIfWanted(worker: WorkerState): Promise<void> {
  const { dataDir } = worker.settings
  if (worker.closing || !worker.engine.isUp() || !isHitCopyWanted(dataDir)) return
  worker.activeCalls++
  try {
    await worker.maintenanceQueue(() =>
      worker.engine.use(async (engine) => {
        if (!engine.backup) throw new Error('The hits are in ClickHouse already')
        await engine.backup(toHitCopyPath(dataDir))
      }),
    )
    await answerHitCopyRequest(dataDir)
  } catch (error) {
    log.error('hit_copy_failed', describeError(error))
    await answerHitCopyRequest(dataDir, error instanceof Error ? error.message : String(error))
  } finally {
    worker.activeCalls--
  }
}

function shipWhatIsNew(worker: WorkerState) {
  if (worker.shipping || performance.now() < worker.notBefore) return
  const logFailure = (error: unknown) => log.error('ship_failed', describeError(error))
  if (worker.importer.hasFiles()) importPending(worker).catch(logFailure)
  if (worker.reader.isBehind()) ship(worker).catch(logFailure)
}

function handleMessage(worker: WorkerState, salts: DailySalts, host: WorkerHost, message: MessageToWorker) {
  if (message.type === 'call') void answerCall(worker, message)
  else if (message.type === 'cancel') cancelCall(worker, message.id)
  else if (message.type === 'stored') worker.clickCounts.confirmStored(message.number)
  else if (message.type === 'salts') salts.set(message.salts)
  else if (message.type === 'ownHosts') worker.ownHosts = new Set(message.ownHosts)
  else if (message.type === 'drain') void drain(worker, message.id)
  else if (message.type === 'close') void closeWorker(worker, host)
}

async function drain(worker: WorkerState, id: number) {
  await shipOrLog(worker)
  await worker.engine.settled()
  reportProgress(worker)
  worker.send({ type: 'drained', id })
}

/** Ships the recorded hits, closes the engine and notifies the server, which then ends the process. */
async function closeWorker(worker: WorkerState, { onClosed }: WorkerHost): Promise<void> {
  if (worker.closing) return
  stop(worker)
  const rollUpsClosed = worker.rollUps.close()
  await shipOrLog(worker)
  // Does not wait longer: a long backlog can be loaded after the next start.
  await Promise.race([worker.engine.settled(), Bun.sleep(SETTLE_MS)])
  await Promise.all([worker.engine.close(), rollUpsClosed])
  await worker.reader.close()
  await onClosed?.()
  worker.send({ type: 'closed' })
}

function failWorker(worker: WorkerState, { onFailed }: WorkerHost, error: unknown): void {
  log.error('ship_worker_failed', describeError(error))
  if (worker.closing) return
  stop(worker)
  void worker.engine.close().finally(onFailed)
}

async function releaseWorker({ rollUps, reader, shipping }: WorkerState): Promise<void> {
  await rollUps.close()
  await shipping?.catch(() => undefined)
  await reader.close()
}

function stop(worker: WorkerState) {
  worker.closing = true
  for (const timer of worker.timers) clearInterval(timer)
}
