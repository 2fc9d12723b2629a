// Erases the hits of deleted workspaces: from the engine, its backup, the batches and quarantined files, so that no
// rebuild of the engine brings them back.

import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { log } from '../../../lib/log.ts'
import { eraseWorkspaces } from '../../../storage/hits/duckdb/erase.ts'
import { copyDurably, toBackupPath } from '../../../storage/hits/duckdb/open-file.ts'
import { isUnreadableName } from '../../../storage/quarantine.ts'
import { rewriteBatches } from '../batches/rewrite-batches.ts'
import { importPending, ship } from './ship.ts'
import { listAllBatches, toEnginePath, type WorkerState } from './worker-state.ts'

/**
 * Erases every hit of these workspaces, down to the bytes on the disk. Questions fail as unavailable until it is done.
 */
export async function eraseHits(worker: WorkerState, workspaceIds: number[]): Promise<void> {
  const enginePath = toEnginePath(worker.settings.dataDir)
  const backupPath = toBackupPath(enginePath)
  const erased = new Set(workspaceIds)
  await worker.engine.runOffline(async () => {
    // Raw hits and pending imports become batches first, which the next step rewrites.
    await importPending(worker)
    await ship(worker)
    for (const list of listAllBatches(worker))
      await rewriteBatches(list, ({ workspaceId }) => !erased.has(workspaceId))
    await eraseWorkspaces(enginePath, workspaceIds)
    if (existsSync(backupPath)) await copyDurably(enginePath, backupPath)
    await deleteQuarantinedFiles(worker)
  })
  log.info('workspaces_erased', { workspaces: workspaceIds.join(' ') })
}

/** Deletes files that were quarantined, because no single workspace can be erased from an unreadable file. */
async function deleteQuarantinedFiles(worker: WorkerState) {
  const { dataDir } = worker.settings
  const engineName = basename(toEnginePath(dataDir))
  for (const name of await readdir(dataDir)) {
    const isLeftover = name === `${engineName}.tmp` || name === `${engineName}.half`
    if (isLeftover || (name.startsWith(engineName) && name.includes('.corrupt-')))
      await deleteFile(join(dataDir, name))
  }
  const batchDirs = listAllBatches(worker).flatMap((list) => list.map(({ path }) => dirname(path)))
  for (const directory of new Set([join(dataDir, 'spool'), ...batchDirs]))
    for (const name of await readdir(directory))
      if (isUnreadableName(name)) await deleteFile(join(directory, name))
}

async function deleteFile(path: string) {
  log.warn('set_aside_file_removed', { path })
  await rm(path, { recursive: true, force: true })
}
