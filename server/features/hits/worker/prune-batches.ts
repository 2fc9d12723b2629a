// Deletes batches that are no longer needed: see batch-retention.ts.

import { rm, stat } from 'node:fs/promises'
import { log } from '../../../lib/log.ts'
import { toBackupPath } from '../../../storage/hits/duckdb/open-file.ts'
import { selectPrunableBatches } from '../batches/batch-retention.ts'
import { toEnginePath, type WorkerState } from './worker-state.ts'

/** Backs the engine up and deletes the batches that the backup covers. Runs in the maintenance queue. */
export const pruneBatches = (worker: WorkerState): Promise<void> =>
  worker.maintenanceQueue(async () => {
    const { settings, engine, batches } = worker
    const backupPath = toBackupPath(toEnginePath(settings.dataDir))
    const state = {
      now: Date.now(),
      mark: engine.mark(settings.node),
      counted: worker.clickCounts.lastCounted(),
    }
    const prunable = selectPrunableBatches(batches, state, settings.batchRetention)
    if (prunable.length === 0 || (await isRecent(backupPath, settings.pruneEveryMs))) return
    await engine.backup(backupPath)
    for (const batch of prunable) await rm(batch.path, { force: true })
    batches.splice(0, prunable.length)
    log.info('hit_batches_pruned', { batches: prunable.length })
  })

/** A backup is as big as the engine's file: a worker that is started often must not make one at each start. */
async function isRecent(path: string, ageMs: number): Promise<boolean> {
  const file = await stat(path).catch(() => undefined)
  return file !== undefined && Date.now() - file.mtimeMs < ageMs
}
