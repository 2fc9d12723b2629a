// Puts the parts of an export together to one file.

import { type FileHandle, open } from 'node:fs/promises'
import { createMemoryInstance } from './memory-instance.ts'
import { quoteLiteral } from './values.ts'

/** Parquet is merged by an engine of its own, which never needs more memory than this. */
const MERGE_MEMORY_MB = 48
/** How many hits a row group of a Parquet file has. */
export const ROW_GROUP = 16_384

/**
 * Appends a file to an open one. It uses one buffer: a stream makes a new buffer for each piece, which waits for the
 * collector.
 */
export async function appendFile(file: FileHandle, path: string, buffer: Buffer): Promise<void> {
  const source = await open(path)
  try {
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return
      await file.writeFile(buffer.subarray(0, bytesRead))
    }
  } finally {
    await source.close()
  }
}

/**
 * Merges Parquet files in their order. An engine of its own does it: the hit engine does not keep the order of rows
 * (open-file.ts).
 */
export async function mergeParquet(parts: string[], path: string, signal: AbortSignal): Promise<void> {
  const instance = await createMemoryInstance(MERGE_MEMORY_MB, `${path}.tmp`)
  const connection = await instance.connect()
  const interrupt = () => connection.interrupt()
  signal.addEventListener('abort', interrupt)
  try {
    await connection.run(`COPY (FROM read_parquet([${parts.map(quoteLiteral)}])) TO ${quoteLiteral(path)}
      (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP})`)
  } finally {
    signal.removeEventListener('abort', interrupt)
    connection.closeSync()
    instance.closeSync()
  }
}
