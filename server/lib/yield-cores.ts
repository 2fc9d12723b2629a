// Work that can wait gives way to work that cannot, thread by thread: on Linux each thread has a niceness of its own.

import { readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** A tenth of the share of a thread that nobody touched: enough to go on, on one core under full load. */
export const NICENESS = 10

/** Where the runtime reads and writes files, and where the hit engine works. */
const POOL = /^Bun Pool/

/**
 * Lowers this thread and the runtime's pool. The pool's threads come and go, so it is to be called now and then.
 * Elsewhere than on Linux it does nothing: there a niceness is the whole process's.
 */
export function yieldCores(): void {
  if (process.platform !== 'linux') return
  setPriority(0, NICENESS)
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8')
      if (POOL.test(name)) setPriority(Number(thread), NICENESS)
    } catch (error) {
      // A thread may end between these lines.
      if (!isGone(error)) throw error
    }
  }
}

const isGone = (error: unknown) =>
  /^(ENOENT|ESRCH|ERR_SYSTEM_ERROR)$/.test((error as NodeJS.ErrnoException).code ?? '')
