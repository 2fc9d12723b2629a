// Removes hits that are past their retention: from the engine, its backup and the batches, so that no rebuild of the
// engine brings them back.

import { existsSync } from 'node:fs'
import { toBackupPath } from '../../../storage/hits/duckdb/open-file.ts'
import { findFirstHit, rewriteBatches } from '../batches/rewrite-batches.ts'
import { listAllBatches, toEnginePath, type WorkerState } from './worker-state.ts'

/**
 * Removes the hits recorded before `worker.since`. Links keep their counters: a batch that is not counted yet stays
 * whole.
 */
export async function pruneHits(worker: WorkerState): Promise<void> {
  const { engine, clickCounts, since } = worker
  const { node, dataDir } = worker.settings
  await engine.use((open) => open.deleteBefore(since))
  for (const batch of listAllBatches(worker).flat()) {
    if (batch.node === node && batch.number > clickCounts.lastCounted()) continue
    const oldest = await findFirstHit(batch)
    if (oldest && oldest.at < since) await rewriteBatches([batch], (hit) => hit.at >= since)
  }
  // The backup comes after the batches: until they are rewritten, a rebuilt engine does not load such hits either.
  const backupPath = toBackupPath(toEnginePath(dataDir))
  if (existsSync(backupPath)) await engine.backup(backupPath)
}
