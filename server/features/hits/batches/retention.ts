// How long batches are kept: until the engine, its backup and the link counters all hold them, and then a while, so
// that a broken engine can be rebuilt without its backup too.

import type { BatchFile } from './batch-file.ts'

const DAY_MS = 24 * 60 * 60 * 1000

export interface BatchRetention {
  ageMs: number
  bytes: number
  /** Two batches a second would be 1.2 million files in a week: too many for one directory. */
  files: number
}

export const DEFAULT_BATCH_RETENTION: BatchRetention = {
  ageMs: 7 * DAY_MS,
  bytes: 2 * 1024 ** 3,
  files: 20_000,
}

/**
 * The batches to delete, oldest first, once a backup of the engine is made. Never the newest: its name says how far
 * the spool was read. A backup copies the whole engine, so work is saved up: a day's worth, or a quarter of a limit.
 */
export function selectPrunableBatches(
  batches: readonly BatchFile[],
  state: { now: number; mark: number; counted: number },
  limits: BatchRetention,
): BatchFile[] {
  const free = batches.slice(0, -1).filter(({ number }) => number <= Math.min(state.mark, state.counted))
  const total = batches.reduce((sum, { bytes }) => sum + bytes, 0)
  const oldest = free[0]
  if (!oldest) return []
  const aged = state.now - oldest.writtenAt > limits.ageMs + DAY_MS
  const crowded = total > limits.bytes || batches.length > limits.files
  if (!aged && !crowded) return []
  let bytes = total
  let files = batches.length
  const doomed: BatchFile[] = []
  for (const batch of free) {
    const old = state.now - batch.writtenAt > limits.ageMs
    const over = crowded && (bytes > limits.bytes * 0.75 || files > limits.files * 0.75)
    if (!old && !over) break
    doomed.push(batch)
    bytes -= batch.bytes
    files--
  }
  return doomed
}

/** Hits recorded before this moment are past a retention of so many days. */
export const toRetentionStart = (now: number, days: number) => Math.max(0, now - days * DAY_MS)
