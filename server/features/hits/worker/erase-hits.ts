// Hits that have to go: those past their retention, and those of a workspace that was erased. From the engine, its
// backup, the batches, and what accidents left lying about, so that no rebuild brings them back.

import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { log } from '../../../lib/log.ts'
import { eraseWorkspaces } from '../../../storage/hits/duckdb/erase.ts'
import { copyDurably, toBackupPath } from '../../../storage/hits/duckdb/open-file.ts'
import type { BatchFile } from '../batches/batch-file.ts'
import { findFirstHit, rewriteBatches } from '../batches/rewrite-batches.ts'
import type { EngineSupervisor } from './engine-supervisor.ts'

export interface EraseHitsNeeds {
  dataDir: string
  enginePath: string
  engine: Pick<EngineSupervisor, 'use' | 'backup' | 'runOffline'>
  /** Every node's batches; those of this node up to `counted` are on the links' counters. */
  batches(): (readonly BatchFile[])[]
  node: string
  lastCounted(): number
  /** Describes what is in the spool. */
  ship(): Promise<void>
}

/** Removes hits recorded before this moment. Links keep their counters: what is not counted yet waits. */
export async function pruneHits(needs: EraseHitsNeeds, since: number): Promise<void> {
  const { engine, enginePath, node, lastCounted } = needs
  await engine.use((up) => up.deleteBefore(since))
  for (const batch of needs.batches().flat()) {
    if (batch.node === node && batch.number > lastCounted()) continue
    const oldest = await findFirstHit(batch)
    if (oldest && oldest.at < since) await rewriteBatches([batch], (hit) => hit.at >= since)
  }
  // After the batches: until they are rewritten, an engine made anew of them does not take such hits either.
  if (existsSync(toBackupPath(enginePath))) await engine.backup(toBackupPath(enginePath))
}

/** Removes every hit of these workspaces, their bytes too. Questions wait until it is done. */
export async function eraseHits(needs: EraseHitsNeeds, workspaceIds: number[]): Promise<void> {
  const { engine, enginePath } = needs
  const erased = new Set(workspaceIds)
  await engine.runOffline(async () => {
    await needs.ship()
    for (const list of needs.batches())
      await rewriteBatches(list, ({ workspaceId }) => !erased.has(workspaceId))
    await eraseWorkspaces(enginePath, workspaceIds)
    if (existsSync(toBackupPath(enginePath))) await copyDurably(enginePath, toBackupPath(enginePath))
    await deleteQuarantinedFiles(needs)
  })
  log.info('workspaces_erased', { workspaces: workspaceIds.join(' ') })
}

/** Files that were set aside as unreadable hold whatever they held; nobody can take a part out of them. */
async function deleteQuarantinedFiles({ dataDir, enginePath, batches }: EraseHitsNeeds) {
  const engine = basename(enginePath)
  const directories = new Set([join(dataDir, 'spool'), ...batches().flatMap((list) => list.map(toDirectory))])
  for (const name of await readdir(dataDir)) {
    const leftover = name === `${engine}.tmp` || name === `${engine}.half`
    if (leftover || (name.startsWith(engine) && name.includes('.corrupt-')))
      await deleteQuarantined(join(dataDir, name))
  }
  for (const directory of directories)
    for (const name of await readdir(directory))
      if (name.endsWith('.unreadable')) await deleteQuarantined(join(directory, name))
}

const toDirectory = ({ path }: BatchFile) => dirname(path)

async function deleteQuarantined(path: string) {
  log.warn('set_aside_file_removed', { path })
  await rm(path, { recursive: true, force: true })
}
