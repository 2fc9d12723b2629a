// Prevents questions during the commit of a transaction that moves hits between tables or changes roll-ups. With DuckDB 1.5.6,
// a reader during the commit of a large transaction sees both the inserted and the deleted rows: each hit twice.

import { createWaitList } from '../../../lib/concurrency/wait-list.ts'

/** How long a commit waits for a moment without questions. After that, new questions wait for the commit. */
const TIMEOUT_MS = 2_000

export interface ReadWriteLock {
  /** Runs work together with other shared work, but never during exclusive work. */
  shared<T>(work: () => Promise<T>): Promise<T>
  /** Resolves at a moment without shared work, so that exclusive work can begin at once; or after a time limit. */
  quiet(): Promise<void>
  /** Runs work while no other work runs. New work waits for its end. Call it for one work at a time. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export function createReadWriteLock(timeoutMs = TIMEOUT_MS): ReadWriteLock {
  let readers = 0
  /** Resolves when the lock is open again; undefined while it is open. */
  let locked: Promise<void> | undefined
  const leaving = createWaitList()

  const waitForReaders = async () => {
    if (readers > 0) await leaving.wait()
  }

  async function quiet() {
    let timer: Timer | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs)
    })
    await Promise.race([waitForReaders(), timeout])
    clearTimeout(timer)
  }

  return {
    quiet,
    async shared(work) {
      while (locked) await locked
      readers++
      try {
        return await work()
      } finally {
        readers--
        if (readers === 0) leaving.release()
      }
    },
    async exclusive(work) {
      await quiet()
      while (locked) await locked
      const unlocked = Promise.withResolvers<void>()
      locked = unlocked.promise
      try {
        await waitForReaders()
        return await work()
      } finally {
        locked = undefined
        unlocked.resolve()
      }
    },
  }
}
