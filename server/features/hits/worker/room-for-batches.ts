// Keeps room on the disk while the hit engine is away: batches that wait for the engine take at most half of the
// space that would be free without them. Later hits stay in the spool, and then the rules for a low disk apply
// (docs/contract.md §16).

import { readDiskSpace } from '../../../storage/disk-space.ts'
import type { WorkerState } from './worker-state.ts'

/** @throws while the engine is away and the batches take their share of the disk */
export async function verifyRoomForBatches(worker: WorkerState): Promise<void> {
  const { batches, engine, settings } = worker
  const bytes = batches.reduce((sum, batch) => sum + batch.bytes, 0)
  worker.bytesMax = settings.batchBytesMax ?? (bytes + (await readDiskSpace(settings.dataDir)).free) / 2
  if (bytes <= worker.bytesMax || engine.canLoad()) return
  throw new Error(
    `${batches.length} batches wait for the hit store and take half of the free disk. Hits stay in the spool`,
  )
}

/** The batches that the engine is not known to hold. */
export function countWaitingBatches({ batches, engine, settings }: WorkerState) {
  const waiting = batches.filter(({ number }) => number > engine.mark(settings.node))
  return { batches: waiting.length, bytes: waiting.reduce((sum, batch) => sum + batch.bytes, 0) }
}
