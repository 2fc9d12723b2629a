// Retention of batch files: until the engine, its backup and the link counters all hold their hits, and a while longer,
// so that a broken engine can be rebuilt without its backup too.

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { BatchFile } from './batch-file.ts'

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
 * Selects the batches to delete, oldest first, once there is a backup of the engine. The newest batch stays: its name
 * says how far the spool was read. A backup copies the whole engine, so work is saved up until it is worth a backup:
 * batches a day over their age, or a limit that is exceeded. An exceeded limit prunes down to three quarters of it.
 */
export function selectPrunableBatches(
  batches: readonly BatchFile[],
  state: { now: number; mark: number; counted: number },
  limits: BatchRetention,
): BatchFile[] {
  const held = batches.slice(0, -1).filter(({ number }) => number <= Math.min(state.mark, state.counted))
  const total = batches.reduce((sum, { bytes }) => sum + bytes, 0)
  const oldest = held[0]
  if (!oldest) return []
  const isDue = state.now - oldest.writtenAt > limits.ageMs + DAY_MS
  const isOverLimit = total > limits.bytes || batches.length > limits.files
  if (!isDue && !isOverLimit) return []
  let bytes = total
  let files = batches.length
  const prunable: BatchFile[] = []
  for (const batch of held) {
    const isOld = state.now - batch.writtenAt > limits.ageMs
    const isExcess = isOverLimit && (bytes > limits.bytes * 0.75 || files > limits.files * 0.75)
    if (!isOld && !isExcess) break
    prunable.push(batch)
    bytes -= batch.bytes
    files--
  }
  return prunable
}
