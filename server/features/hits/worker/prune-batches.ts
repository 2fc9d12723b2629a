// Deletes batches that are no longer needed: see batch-retention.ts.

import { rm, stat } from 'node:fs/promises'
import { log } from '../../../lib/log.ts'
import type { HitEngine } from '../../../storage/hits/hit-engine.ts'
import { selectPrunableBatches } from '../batches/batch-retention.ts'
import { toEngineBackupPath } from './open-engine.ts'
import type { WorkerSettings } from './protocol.ts'
import type { WorkerState } from './worker-state.ts'

/** Deletes batches that the engine has loaded and has a copy of. Runs in the maintenance queue. */
export const pruneBatches = (worker: WorkerState): Promise<void> =>
  worker.maintenanceQueue(async () => {
    const { settings, engine, batches } = worker
    const state = {
      now: Date.now(),
      mark: engine.mark(settings.node),
      counted: Math.min(worker.clickCounts.lastCounted(), worker.toldUpTo ?? Number.POSITIVE_INFINITY),
    }
    const prunable = selectPrunableBatches(batches, state, settings.batchRetention)
    if (prunable.length === 0 || !(await engine.use((open) => copyEngine(open, settings)))) return
    for (const batch of prunable) await rm(batch.path, { force: true })
    batches.splice(0, prunable.length)
    log.info('hit_batches_pruned', { batches: prunable.length })
  })

/**
 * A backup is as large as the engine's file, so a frequently started worker must not make one at each start.
 * @returns true if the engine has a copy of all its hits
 */
async function copyEngine(engine: HitEngine, { dataDir, pruneEveryMs }: WorkerSettings): Promise<boolean> {
  if (!engine.backup) return true
  const path = toEngineBackupPath(dataDir)
  const last = await stat(path).catch(() => undefined)
  if (last !== undefined && Date.now() - last.mtimeMs < pruneEveryMs) return false
  await engine.backup(path)
  return true
}
