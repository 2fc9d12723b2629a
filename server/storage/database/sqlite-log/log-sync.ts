// Syncs commits to the disk without blocking the event loop: SQLite writes a commit into its log, a thread of the runtime
// syncs the log, and only then the commit is answered (docs/adr/0041-checkpoints.md).

import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

export interface LogSync {
  /** @throws when the disk cannot store the log; the state of the disk is then unknown */
  sync(): Promise<void>
  /**
   * Writes the log once more, and syncs it. After a failed write, a kernel treats the page as written, and
   * the next sync succeeds without it. Needs the write lock of the database.
   */
  rewrite(): void
  close(): Promise<void>
}

const REWRITE_BYTES = 1024 * 1024

/** @param path of the log, which exists from the first commit until the last connection is closed */
export function openLogSync(path: string): LogSync {
  let file: FileHandle | undefined
  return {
    async sync() {
      file ??= await open(path, 'r+')
      await file.datasync()
    },
    rewrite: () => rewriteFile(path),
    close: async () => file?.close(),
  }
}

function rewriteFile(path: string): void {
  const file = openSync(path, 'r+')
  try {
    const buffer = Buffer.alloc(REWRITE_BYTES)
    for (let at = 0; ; ) {
      const length = readSync(file, buffer, 0, REWRITE_BYTES, at)
      if (length === 0) break
      for (let written = 0; written < length; )
        written += writeSync(file, buffer, written, length - written, at + written)
      at += length
    }
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}
