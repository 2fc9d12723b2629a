// Removes hits from stored batches. A batch keeps its name and number, even when it is empty, so that marks and
// the batch's end in the spool stay valid.

import { type FileHandle, rm, stat, utimes } from 'node:fs/promises'
import { log } from '../../../lib/log.ts'
import type { Hit } from '../../../storage/hits/hit.ts'
import { renameDurably, writeDurably } from '../../../storage/write-durably.ts'
import { type BatchFile, toBatchBytes } from './batch-file.ts'
import { readHits } from './batch-reader.ts'

/** Characters per write. */
const CHUNK_CHARACTERS = 256 * 1024

/**
 * Rewrites the batches with hits that `keep` rejects. A batch can be read meanwhile, because the new file replaces the old one
 * by a rename.
 */
export async function rewriteBatches(
  batches: readonly BatchFile[],
  keep: (hit: Hit) => boolean,
): Promise<void> {
  for (const batch of batches) {
    if (await needsRewrite(batch, keep)) await rewriteBatch(batch, keep)
  }
}

/** The first hit of a batch is its oldest. null when the batch is empty, or its first line cannot be read. */
export async function findFirstHit(batch: BatchFile): Promise<Hit | null> {
  for await (const hit of readHits(batch.path)) return hit
  return null
}

async function needsRewrite({ path }: BatchFile, keep: (hit: Hit) => boolean): Promise<boolean> {
  for await (const hit of readHits(path)) {
    // A damaged line may be a hit that must be removed.
    if (hit === null || !keep(hit)) return true
  }
  return false
}

async function rewriteBatch(batch: BatchFile, keep: (hit: Hit) => boolean) {
  const unfinished = `${batch.path}.tmp`
  let damaged = 0
  try {
    await writeDurably(unfinished, async (file) => {
      damaged = await copyHits(batch.path, file, keep)
    })
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  if (damaged > 0) log.error('hit_batch_damaged', { path: batch.path, lines: damaged })
  // Keeps the time of the file, because retention uses it.
  const writtenAt = new Date(batch.writtenAt)
  await utimes(unfinished, writtenAt, writtenAt)
  await renameDurably(unfinished, batch.path)
  batch.bytes = (await stat(batch.path)).size
}

/** @returns the number of damaged lines, which are left out */
async function copyHits(path: string, file: FileHandle, keep: (hit: Hit) => boolean): Promise<number> {
  let lines = ''
  let damaged = 0
  for await (const hit of readHits(path)) {
    if (hit === null) damaged++
    else if (keep(hit)) lines += `${JSON.stringify(hit)}\n`
    if (lines.length < CHUNK_CHARACTERS) continue
    await file.writeFile(toBatchBytes(path, lines))
    lines = ''
  }
  await file.writeFile(toBatchBytes(path, lines))
  return damaged
}
