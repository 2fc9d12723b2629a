// Waits until no server runs on the data directory, and keeps every server away from it while the last part moves.

import { type Lock, lockForWorker, tryToLockDataDir } from '../../storage/lock.ts'

const POLL_MS = 1000

/** @param onWait called once, when a server runs. @throws the reason of `signal` when that aborts */
export async function waitForStop(dataDir: string, signal: AbortSignal, onWait: () => void): Promise<Lock> {
  for (let polls = 0; ; polls++) {
    signal.throwIfAborted()
    const lock = tryToLockDataDir(dataDir)
    if (lock) return lockWorkerToo(dataDir, lock)
    if (polls === 0) onWait()
    await Bun.sleep(POLL_MS)
  }
}

/** The hit worker of a server that was killed ends a moment after it. */
async function lockWorkerToo(dataDir: string, lock: Lock): Promise<Lock> {
  const workerLock = await lockForWorker(dataDir)
  return {
    release() {
      workerLock.release()
      lock.release()
    },
  }
}
