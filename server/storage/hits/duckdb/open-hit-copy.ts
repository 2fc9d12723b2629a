// Opens a copy of a DuckDB file for questions and exports, in a command that runs beside the server.

import type { HitEngine } from '../hit-engine.ts'
import { openReadConnections } from './connections.ts'
import { openDuckDbExporter } from './export.ts'
import { openReadOnly } from './open-read-only.ts'
import { createQueryRunner } from './query.ts'
import { createReadWriteLock } from './read-write-lock.ts'

/** @param scratchDir for data that does not fit into DuckDB's memory */
export async function openHitCopy(
  path: string,
  scratchDir: string,
): Promise<Pick<HitEngine, 'ask' | 'export' | 'close'>> {
  const instance = await openReadOnly(path, scratchDir)
  const lock = createReadWriteLock()
  const readers = await openReadConnections(instance, lock)
  const exporter = openDuckDbExporter(instance, lock)
  return {
    ask: createQueryRunner(readers),
    export: exporter.run,
    async close() {
      await Promise.all([readers.close(), exporter.close()])
      instance.closeSync()
    },
  }
}
