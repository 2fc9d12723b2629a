// Erases the hits that an import has brought: from the files that wait, the batches and the engine, so that no rebuild of
// the engine brings them back.

import { unavailable } from '../../../lib/failure.ts'
import { log } from '../../../lib/log.ts'
import type { ImportedHits } from '../../../storage/hits/hit-engine.ts'
import { deleteHitCopy } from '../batches/hit-copy.ts'
import { listPendingImports } from '../batches/hit-import.ts'
import { rewriteBatches } from '../batches/rewrite-batches.ts'
import { importPending, ship } from './ship.ts'
import { listAllBatches, type WorkerState } from './worker-state.ts'

/** How long the counts of the batches may take. */
const COUNTED_WITHIN_MS = 30_000
const POLL_MS = 50

/** The links' counters have these hits when it resolves. */
export async function eraseImportedHits(worker: WorkerState, hits: ImportedHits): Promise<void> {
  const { workspaceId, importId } = hits
  // Pending files become batches first, which the next steps rewrite.
  await importPending(worker)
  await ship(worker)
  if (listPendingImports(worker.settings.dataDir).length > 0) throw unavailable('Hits wait to be taken in', 1)
  // The counts of a batch whose hits are gone could not be sent again.
  await waitUntilCounted(worker)
  for (const list of listAllBatches(worker))
    await rewriteBatches(list, (hit) => hit.importId !== importId || hit.workspaceId !== workspaceId)
  await deleteHitCopy(worker.settings.dataDir)
  // A load that began before its batch was rewritten has ended when the engine deletes. Later loads find the new file.
  await worker.engine.settled()
  await worker.engine.useBetweenLoads((engine) => engine.deleteImported(hits))
  log.info('imported_hits_erased', { workspace: workspaceId, import: importId })
}

async function waitUntilCounted({ batches, clickCounts }: WorkerState): Promise<void> {
  const last = batches.at(-1)?.number ?? 0
  const deadline = performance.now() + COUNTED_WITHIN_MS
  while (clickCounts.lastCounted() < last) {
    if (performance.now() > deadline) throw unavailable('Clicks are not counted yet', 1)
    await Bun.sleep(POLL_MS)
  }
}
