// Lowers the priority of the runtime's thread pool, which hashes passwords, so that the thread that answers visitors
// goes first on a busy machine.

import { readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** A third of the share of a thread with niceness 0. At 10, a tenth, sign-ins starve on a busy machine. */
const POOL_NICENESS = 5
/** The runtime's name for the threads of its pool. */
const POOL_THREAD = /^Bun Pool/

const known = new Set<string>()

/** On Linux each thread has its own niceness. The pool starts its threads when it needs them: call this with each task. */
export function lowerPoolPriority(): void {
  if (process.platform !== 'linux') return
  for (const thread of readdirSync('/proc/self/task')) {
    if (known.has(thread)) continue
    try {
      const isPool = POOL_THREAD.test(readFileSync(`/proc/self/task/${thread}/comm`, 'utf8'))
      if (isPool) setPriority(Number(thread), POOL_NICENESS)
      known.add(thread)
    } catch {
      // The thread has ended meanwhile, or the system does not allow it. The work continues.
    }
  }
}
