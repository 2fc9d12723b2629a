// One process per data directory. The lock is SQLite's own on a file of its own, so the kernel lets go of it
// whatever way the process ends.

import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** @throws a sentence for the operator when another process holds the directory. */
export function lockDataDir(dataDir: string): { release(): void } {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const database = new Database(join(dataDir, 'server.lock'), { create: true })
  try {
    database.run('PRAGMA locking_mode=EXCLUSIVE')
    database.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'SQLITE_BUSY')) throw cause
    throw new Error(
      `Another Towpath server is running on ${dataDir}. Stop it, or give this one a DATA_DIR of its own.`,
      { cause },
    )
  }
  return { release: () => database.close() }
}
