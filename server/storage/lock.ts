// Locks that allow one process per data directory. A lock is SQLite's lock on a separate file, so the kernel releases it
// however the process ends.

import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { log } from '../lib/log.ts'

/** A starting server waits this long, because a command that checks for a running server briefly holds the lock. */
const LOCK_WAIT_MS = 500
const TRY_EVERY_MS = 20
const TRIES_BEFORE_WARNING = 250

export interface Lock {
  release(): void
}

/** @throws an error that `isHeld` recognizes, when another process holds the lock for longer than `waitMs` */
function lockFile(path: string, waitMs: number): Lock {
  const database = new Database(path, { create: true })
  try {
    database.run(`PRAGMA busy_timeout=${waitMs}`)
    database.run('PRAGMA locking_mode=EXCLUSIVE')
    database.run('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    throw error
  }
  return { release: () => database.close() }
}

/** @throws a sentence for the operator, when another process holds the directory */
export function lockDataDir(dataDir: string): Lock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  try {
    return lockFile(join(dataDir, 'server.lock'), LOCK_WAIT_MS)
  } catch (cause) {
    if (!isHeld(cause)) throw cause
    throw new Error(
      `Another Towpath server is running on ${dataDir}. Stop it, or give this server another DATA_DIR.`,
      { cause },
    )
  }
}

/** @returns undefined while a server runs on the directory */
export function tryToLockDataDir(dataDir: string): Lock | undefined {
  try {
    return lockDataDir(dataDir)
  } catch (error) {
    if (error instanceof Error && isHeld(error.cause)) return undefined
    throw error
  }
}

/** @returns true if a server runs on the directory. It creates nothing. */
export function isDataDirLocked(dataDir: string): boolean {
  const path = join(dataDir, 'server.lock')
  if (!existsSync(path)) return false
  try {
    lockFile(path, 0).release()
    return false
  } catch (error) {
    // Any other error is about permissions, which a running server has.
    return isHeld(error)
  }
}

/** Two commands that move the same directory would undo each other's work. @returns undefined while another one runs */
export const tryToLockForMove = (dataDir: string) => tryToLockFile(join(dataDir, 'move.lock'))

/** Each backup deletes the unfinished files of the previous one. @returns undefined while another one runs */
export const tryToLockForBackup = (dataDir: string) => tryToLockFile(join(dataDir, 'backup.lock'))

function tryToLockFile(path: string): Lock | undefined {
  try {
    return lockFile(path, 0)
  } catch (error) {
    if (isHeld(error)) return undefined
    throw error
  }
}

/** Waits for the hit worker of a killed server, which ends shortly after its server. */
export async function lockForWorker(dataDir: string): Promise<Lock> {
  for (let tries = 1; ; tries++) {
    try {
      return lockFile(join(dataDir, 'ship.lock'), 0)
    } catch (error) {
      if (!isHeld(error)) throw error
      if (tries === TRIES_BEFORE_WARNING) log.warn('ship_worker_waits_for_another', { dataDir })
      await Bun.sleep(TRY_EVERY_MS)
    }
  }
}

const isHeld = (error: unknown) =>
  error instanceof Error && (error as { code?: unknown }).code === 'SQLITE_BUSY'

/**
 * Runs short work that only one process may do.
 * @returns undefined, without running the work, if a server runs on the directory
 */
export async function runWhileNoServer<T>(dataDir: string, work: () => Promise<T>): Promise<T | undefined> {
  const lock = tryToLockDataDir(dataDir)
  if (!lock) return undefined
  try {
    return await work()
  } finally {
    lock.release()
  }
}
