// Taking hits out of batches that are kept. A batch stays under its name and number, if need be empty, so that marks
// and the place in the spool where it ended mean what they meant.

import { open, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { log } from '../../../lib/log.ts'
import type { Hit } from '../../../storage/hits/hit.ts'
import { syncToDisk } from '../../../storage/sync-to-disk.ts'
import type { BatchFile } from './batch-file.ts'
import { readHits } from './batch-reader.ts'

/** So many bytes of lines are written at once. */
const CHUNK_CHARACTERS = 256 * 1024

/** Rewrites the batches that hold such hits, whoever reads one meanwhile: the new file takes the old one's place. */
export async function rewriteBatches(
  batches: readonly BatchFile[],
  keep: (hit: Hit) => boolean,
): Promise<void> {
  for (const batch of batches) {
    if (await needsRewrite(batch, keep)) await rewriteBatch(batch, keep)
  }
}

/** The oldest hit of a batch is its first. null when it has none, or none that can be read there. */
export async function findFirstHit(batch: BatchFile): Promise<Hit | null> {
  for await (const hit of readHits(batch.path)) return hit
  return null
}

async function needsRewrite({ path }: BatchFile, keep: (hit: Hit) => boolean): Promise<boolean> {
  for await (const hit of readHits(path)) {
    // Nobody knows what a damaged line says.
    if (hit === null || !keep(hit)) return true
  }
  return false
}

async function rewriteBatch(batch: BatchFile, keep: (hit: Hit) => boolean) {
  const unfinished = `${batch.path}.tmp`
  const file = await open(unfinished, 'w', 0o600)
  let lines = ''
  let damaged = 0
  try {
    for await (const hit of readHits(batch.path)) {
      if (hit === null) damaged++
      else if (keep(hit)) lines += `${JSON.stringify(hit)}\n`
      if (lines.length < CHUNK_CHARACTERS) continue
      await file.writeFile(lines)
      lines = ''
    }
    await file.writeFile(lines)
    await file.sync()
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  } finally {
    await file.close()
  }
  if (damaged > 0) log.error('hit_batch_damaged', { path: batch.path, lines: damaged })
  // How old a batch is decides how long it is kept.
  const written = new Date(batch.writtenAt)
  await utimes(unfinished, written, written)
  await rename(unfinished, batch.path)
  await syncToDisk(dirname(batch.path))
  batch.bytes = (await stat(batch.path)).size
}
