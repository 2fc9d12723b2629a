// Makes the copy of all hits that another process has asked for: see hit-copy.ts.

import { describeError, log } from '../../../lib/log.ts'
import { answerHitCopyRequest, isHitCopyWanted, toHitCopyPath } from '../batches/hit-copy.ts'
import type { WorkerState } from './worker-state.ts'

/** Runs in the maintenance queue. A worker that makes a copy is not idle. */
export async function copyHitsIfWanted(worker: WorkerState): Promise<void> {
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
