// Writes a whole chunk into a file.

import type { FileHandle } from 'node:fs/promises'

/** Writes again after a partial write: a disk that becomes full accepts a part of the bytes, and refuses the rest with an error. */
export async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, at, chunk.byteLength - at)
    at += bytesWritten
  }
}
