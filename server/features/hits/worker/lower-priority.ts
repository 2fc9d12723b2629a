// Work that can wait gives way to work that cannot: a process that answers nobody directly takes what others leave.

import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** A tenth of the share of a thread that nobody touched: enough to go on, on one core under full load. */
export const NICENESS = 10
/** Of 1000, in favour of being ended where memory runs out; 0 is what others have. */
export const OOM_SCORE = 500

/**
 * Lowers this process: others go first where cores are short, and where the kernel is out of memory, it ends this one. On
 * Linux each thread has a niceness of its own, which those that it starts inherit: to be called first of all.
 */
export function lowerPriority(): void {
  const isLinux = process.platform === 'linux'
  for (const thread of isLinux ? readdirSync('/proc/self/task') : [0]) {
    try {
      setPriority(Number(thread), NICENESS)
    } catch (error) {
      // A thread may end meanwhile.
      if (!isGone(error)) throw error
    }
  }
  if (isLinux) writeFileSync('/proc/self/oom_score_adj', String(OOM_SCORE))
}

const isGone = (error: unknown) =>
  /^(ENOENT|ESRCH|ERR_SYSTEM_ERROR)$/.test((error as NodeJS.ErrnoException).code ?? '')
