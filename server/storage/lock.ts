// One process per data directory. The lock is SQLite's own on a file of its own, so the kernel lets go of it
// whatever way the process ends.

import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** A command that looks whether a server runs holds the lock for a moment: no server need fail to start for that. */
const LOOKED_AT_MS = 500

/** @throws a sentence for the operator when another process holds the directory. */
export function lockDataDir(dataDir: string): { release(): void } {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const database = new Database(join(dataDir, 'server.lock'), { create: true })
  try {
    database.run(`PRAGMA busy_timeout=${LOOKED_AT_MS}`)
    database.run('PRAGMA locking_mode=EXCLUSIVE')
    database.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    if (!isHeld(cause)) throw cause
    throw new Error(
      `Another Towpath server is running on ${dataDir}. Stop it, or give this one a DATA_DIR of its own.`,
      { cause },
    )
  }
  return { release: () => database.close() }
}

const isHeld = (error: unknown) =>
  error instanceof Error && (error as { code?: unknown }).code === 'SQLITE_BUSY'

/** Does a short piece of work that only one process may do. @returns undefined when a server runs on the directory */
export async function whileNoServerRuns<T>(dataDir: string, work: () => Promise<T>): Promise<T | undefined> {
  let lock: { release(): void }
  try {
    lock = lockDataDir(dataDir)
  } catch (error) {
    if (error instanceof Error && isHeld(error.cause)) return undefined
    throw error
  }
  try {
    return await work()
  } finally {
    lock.release()
  }
}
