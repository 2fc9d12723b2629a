// Reports an idle worker to the server, which then ends it unless there is new work.

import { WAITING_HITS } from '../spool/write-position.ts'
import { pruneBatches } from './prune-batches.ts'
import type { WorkerState } from './worker-state.ts'

export async function reportIdle(worker: WorkerState): Promise<void> {
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
