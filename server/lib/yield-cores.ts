// Work that can wait gives way to work that cannot: a process that answers nobody directly takes what others leave.

import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/** A tenth of the share of a thread that nobody touched: enough to go on, on one core under full load. */
export const NICENESS = 10

/**
 * Lowers this process. On Linux each thread has a niceness of its own, which those that it starts inherit: to be called
 * first of all.
 */
export function yieldCores(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task') : [0]
  for (const thread of threads) {
    try {
      setPriority(Number(thread), NICENESS)
    } catch (error) {
      // A thread may end meanwhile.
      if (!isGone(error)) throw error
    }
  }
}

const isGone = (error: unknown) =>
  /^(ENOENT|ESRCH|ERR_SYSTEM_ERROR)$/.test((error as NodeJS.ErrnoException).code ?? '')
