// Writes and renames that survive a power loss.

import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Syncs a file or a directory to the disk. A directory's sync covers the names in it: without it a rename is not safe,
 * see fsync(2), https://man7.org/linux/man-pages/man2/fsync.2.html.
 */
export async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Opens a file that only its owner may read, and resolves when everything that `write` wrote is on the disk. */
export async function writeDurably(
  path: string,
  write: (file: FileHandle) => Promise<unknown>,
  flags: 'w' | 'wx' = 'w',
): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await write(file)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Renames a file whose bytes are already on the disk. It replaces a file with the new name atomically. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  await syncToDisk(dirname(to))
}
