// Creates a DuckDB instance in memory, for work on other files.

import { DuckDBInstance } from '@duckdb/node-api'

/**
 * @param tempDir the directory for data that does not fit into memory. DuckDB's default is the server's working
 * directory.
 */
export const createMemoryInstance = (memoryMb: number, tempDir: string): Promise<DuckDBInstance> =>
  DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMb}MB`,
    threads: '1',
    temp_directory: tempDir,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
