// Opens a copy of a DuckDB file for questions and exports, for a command beside the server that has the file itself.

import { availableParallelism } from 'node:os'
import { DuckDBInstance } from '@duckdb/node-api'
import type { HitEngine } from '../hit-engine.ts'
import { openReadConnections } from './connections.ts'
import { openDuckDbExporter } from './export.ts'
import { createQueryRunner } from './query.ts'
import { createReadWriteLock } from './read-write-lock.ts'

const MEMORY_MB = 256

/** @param scratchDir where DuckDB puts what does not fit into its memory */
export async function openHitCopy(
  path: string,
  scratchDir: string,
): Promise<Pick<HitEngine, 'ask' | 'export' | 'close'>> {
  const instance = await DuckDBInstance.create(path, {
    access_mode: 'READ_ONLY',
    memory_limit: `${MEMORY_MB}MB`,
    threads: String(Math.min(2, availableParallelism())),
    temp_directory: scratchDir,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'false',
  })
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
