// Hits that have to go: those past their retention, and those of a workspace that was erased. From the engine, its
// backup, the batches, and what accidents left lying about, so that no rebuild brings them back.

import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { log } from '../../lib/log.ts'
import { eraseWorkspaces } from '../../storage/hits/duckdb-erase.ts'
import { backupOf, copyDurably } from '../../storage/hits/duckdb-open.ts'
import type { BatchFile } from './batches.ts'
import type { KeptEngine } from './keep-engine.ts'
import { firstHit, keepOnly } from './rewrite-batches.ts'

export interface RemovingNeeds {
  dataDir: string
  enginePath: string
  engine: Pick<KeptEngine, 'use' | 'backup' | 'exclusively'>
  /** Every node's batches; those of this node up to `counted` are on the links' counters. */
  batches(): (readonly BatchFile[])[]
  node: string
  counted(): number
  /** Describes what is in the spool. */
  ship(): Promise<void>
}

/** Removes hits recorded before this moment. Links keep their counters: what is not counted yet waits. */
export async function forgetBefore(needs: RemovingNeeds, since: number): Promise<void> {
  const { engine, enginePath, node, counted } = needs
  await engine.use((up) => up.forget(since))
  for (const batch of needs.batches().flat()) {
    if (batch.node === node && batch.number > counted()) continue
    const oldest = await firstHit(batch)
    if (oldest && oldest.at < since) await keepOnly([batch], (hit) => hit.at >= since)
  }
  // After the batches: until they are rewritten, an engine made anew of them does not take such hits either.
  if (existsSync(backupOf(enginePath))) await engine.backup(backupOf(enginePath))
}

/** Removes every hit of these workspaces, their bytes too. Questions wait until it is done. */
export async function eraseHitsOf(needs: RemovingNeeds, workspaceIds: number[]): Promise<void> {
  const { engine, enginePath } = needs
  const erased = new Set(workspaceIds)
  await engine.exclusively(async () => {
    await needs.ship()
    for (const list of needs.batches()) await keepOnly(list, ({ workspaceId }) => !erased.has(workspaceId))
    await eraseWorkspaces(enginePath, workspaceIds)
    if (existsSync(backupOf(enginePath))) await copyDurably(enginePath, backupOf(enginePath))
    await removeEvidence(needs)
  })
  log.info('workspaces_erased', { workspaces: workspaceIds.join(' ') })
}

/** Files that were set aside as unreadable hold whatever they held; nobody can take a part out of them. */
async function removeEvidence({ dataDir, enginePath, batches }: RemovingNeeds) {
  const engine = basename(enginePath)
  const directories = new Set([join(dataDir, 'spool'), ...batches().flatMap((list) => list.map(directoryOf))])
  for (const name of await readdir(dataDir)) {
    const leftover = name === `${engine}.tmp` || name === `${engine}.half`
    if (leftover || (name.startsWith(engine) && name.includes('.corrupt-'))) await remove(join(dataDir, name))
  }
  for (const directory of directories)
    for (const name of await readdir(directory))
      if (name.endsWith('.unreadable')) await remove(join(directory, name))
}

const directoryOf = ({ path }: BatchFile) => dirname(path)

async function remove(path: string) {
  log.warn('set_aside_file_removed', { path })
  await rm(path, { recursive: true, force: true })
}
