// Erases the hits of deleted workspaces: from the batches, quarantined files and the engine, so that no rebuild of the
// engine brings them back.

import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { log } from '../../../lib/log.ts'
import { isUnreadableName } from '../../../storage/quarantine.ts'
import { deleteHitCopy } from '../batches/hit-copy.ts'
import { rewriteBatches } from '../batches/rewrite-batches.ts'
import { importPending, ship } from './ship.ts'
import { listAllBatches, type WorkerState } from './worker-state.ts'

/**
 * Erases every hit of these workspaces, down to the bytes on the disk.
 * @throws `unavailable` while the engine is away; what the batches had is erased then
 */
export async function eraseHits(worker: WorkerState, workspaceIds: number[]): Promise<void> {
  const erased = new Set(workspaceIds)
  // Raw hits and pending imports become batches first, which the next step rewrites.
  await importPending(worker)
  await ship(worker)
  for (const list of listAllBatches(worker))
    await rewriteBatches(list, ({ workspaceId }) => !erased.has(workspaceId))
  await deleteUnreadableFiles(worker)
  await deleteHitCopy(worker.settings.dataDir)
  // A load that began before its batch was rewritten has ended when the engine erases. Later loads find the new file.
  await worker.engine.settled()
  await worker.engine.useBetweenLoads((engine) => engine.erase(workspaceIds))
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
