// Removes hits of deleted workspaces, of undone imports, and those past their retention, from waiting files, batches and the
// engine, so that no rebuild of the engine restores them.

import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unavailable } from '../../../lib/failure.ts'
import { log } from '../../../lib/log.ts'
import type { HitEngine, ImportedHits } from '../../../storage/hits/hit-engine.ts'
import { isUnreadableName } from '../../../storage/quarantine.ts'
import { deleteHitCopy } from '../batches/hit-copy.ts'
import { listPendingImports } from '../batches/hit-import.ts'
import { findFirstHit, rewriteBatches } from '../batches/rewrite-batches.ts'
import { importPending, ship } from './ship.ts'
import { listAllBatches, type WorkerState } from './worker-state.ts'

/** Time limit for the counts of the batches. */
const COUNTED_WITHIN_MS = 30_000
const POLL_MS = 50

/**
 * Erases every hit of these workspaces, down to the bytes on the disk.
 * @throws `unavailable` while the engine is unavailable, after erasing the hits in the batches
 */
export async function eraseHits(worker: WorkerState, workspaceIds: number[]): Promise<void> {
  const erased = new Set(workspaceIds)
  await takeInHits(worker)
  for (const list of listAllBatches(worker))
    await rewriteBatches(list, ({ workspaceId }) => !erased.has(workspaceId))
  await deleteUnreadableFiles(worker)
  await removeFromEngine(worker, (engine) => engine.erase(workspaceIds))
  log.info('workspaces_erased', { workspaces: workspaceIds.join(' ') })
}

/** Deletes files that were quarantined, because no single workspace can be erased from an unreadable file. */
async function deleteUnreadableFiles(worker: WorkerState) {
  const batchDirs = listAllBatches(worker).flatMap((list) => list.map(({ path }) => dirname(path)))
  for (const directory of new Set([worker.settings.spoolDir, ...batchDirs]))
    for (const name of await readdir(directory)) {
      if (!isUnreadableName(name)) continue
      log.warn('set_aside_file_removed', { path: join(directory, name) })
      await rm(join(directory, name), { recursive: true, force: true })
    }
}

/** When it resolves, the links' counters include these hits. */
export async function eraseImportedHits(worker: WorkerState, hits: ImportedHits): Promise<void> {
  const { workspaceId, importId } = hits
  await takeInHits(worker)
  if (listPendingImports(worker.settings.dataDir).length > 0) throw unavailable('Hits wait to be taken in', 1)
  // The counts of a batch cannot be sent again once its hits are erased.
  await waitUntilCounted(worker)
  for (const list of listAllBatches(worker))
    await rewriteBatches(list, (hit) => hit.importId !== importId || hit.workspaceId !== workspaceId)
  await removeFromEngine(worker, (engine) => engine.deleteImported(hits))
  log.info('imported_hits_erased', { workspace: workspaceId, import: importId })
}

/** Turns raw hits and pending imports into batches, which the next steps rewrite. */
async function takeInHits(worker: WorkerState): Promise<void> {
  await importPending(worker)
  await ship(worker)
}

/** Call it after the batches are rewritten. */
async function removeFromEngine(
  { engine, settings }: WorkerState,
  remove: (engine: HitEngine) => Promise<void>,
): Promise<void> {
  await deleteHitCopy(settings.dataDir)
  // Waits for loads that began before their batch was rewritten. Later loads read the new file.
  await engine.settled()
  await engine.useBetweenLoads(remove)
}

async function waitUntilCounted({ batches, clickCounts }: WorkerState): Promise<void> {
  const last = batches.at(-1)?.number ?? 0
  const deadline = performance.now() + COUNTED_WITHIN_MS
  while (clickCounts.lastCounted() < last) {
    if (performance.now() > deadline) throw unavailable('Clicks are not counted yet', 1)
    await Bun.sleep(POLL_MS)
  }
}

/**
 * Removes the hits that are past their retention: those recorded before `worker.since`. Links keep their counters, so a
 * batch that is not counted yet keeps all hits.
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
