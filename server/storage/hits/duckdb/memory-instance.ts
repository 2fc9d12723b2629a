// Creates a DuckDB instance without a database of its own, for work on other files.

import { DuckDBInstance } from '@duckdb/node-api'

/**
 * @param tempDir where DuckDB spills data that does not fit into its memory. The default would be the server's working
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
