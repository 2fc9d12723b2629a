// Removes hits that are past their retention, from the engine and from the batches, so that no rebuild of the engine
// brings them back.

import { findFirstHit, rewriteBatches } from '../batches/rewrite-batches.ts'
import { listAllBatches, type WorkerState } from './worker-state.ts'

/**
 * Removes the hits recorded before `worker.since`. Links keep their counters: a batch that is not counted yet stays
 * whole.
 */
export async function pruneHits(worker: WorkerState): Promise<void> {
  const { engine, clickCounts, since, settings } = worker
  await engine.use((open) => open.deleteBefore(since))
  for (const batch of listAllBatches(worker).flat()) {
    if (batch.node === settings.node && batch.number > clickCounts.lastCounted()) continue
    const oldest = await findFirstHit(batch)
    if (oldest && oldest.at < since) await rewriteBatches([batch], (hit) => hit.at >= since)
  }
}
