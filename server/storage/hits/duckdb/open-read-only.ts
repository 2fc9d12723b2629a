// Opens a DuckDB file for reading only, in a command beside the server or without one.

import { availableParallelism } from 'node:os'
import { DuckDBInstance } from '@duckdb/node-api'

const MEMORY_MB = 256

/** @param scratchDir for data that does not fit into DuckDB's memory. @throws when another process writes the file */
export const openReadOnly = (path: string, scratchDir: string): Promise<DuckDBInstance> =>
  DuckDBInstance.create(path, {
    access_mode: 'READ_ONLY',
    memory_limit: `${MEMORY_MB}MB`,
    threads: String(Math.min(2, availableParallelism())),
    temp_directory: scratchDir,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'false',
  })
