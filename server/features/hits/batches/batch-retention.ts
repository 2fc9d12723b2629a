// Retention of batch files: until the engine, its backup and the link counters have their hits, and some time longer, so
// that a broken engine can also be rebuilt without its backup.

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
 * Selects the batches to delete, oldest first. They may be deleted after a backup of the engine. The newest batch stays,
 * because its name has the position up to which the spool was read. A backup copies the whole engine, so batches are selected
 * only if a batch is a day over its age, or a limit is exceeded. Then batches are deleted down to three quarters of the limit.
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
