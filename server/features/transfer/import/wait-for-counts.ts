// Waits for the counters of links at the end of an import: an import that is done has told them its clicks.

import { listPendingImports } from '../../hits/batches/hit-import.ts'
import { isChunkOf } from '../history/chunk-files.ts'

const POLL_MS = 50

export interface CountNeeds {
  dataDir: string
  /** Counts what the hit worker has. */
  drain(): Promise<void>
}

/** @throws the reason of the signal */
export async function waitForCounts(
  { dataDir, drain }: CountNeeds,
  importId: number,
  signal: AbortSignal,
): Promise<void> {
  while (listPendingImports(dataDir).some((name) => isChunkOf(name, importId))) {
    signal.throwIfAborted()
    await Bun.sleep(POLL_MS)
  }
  await drain()
}
