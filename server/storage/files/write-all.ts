// Writes a whole chunk into a file of the disk.

import type { FileHandle } from 'node:fs/promises'

/** A disk that has just become full takes a part of the bytes, and refuses the rest with an error. */
export async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, at, chunk.byteLength - at)
    at += bytesWritten
  }
}
