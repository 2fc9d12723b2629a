// Lowers the priority of a process whose work can wait, so that processes that answer visitors go first.

import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Gives a tenth of the share of a thread with niceness 0: enough to make progress on one core under full load. */
export const NICENESS = 10
/**
 * From 0, which other processes have, to 1000: the higher, the sooner the kernel ends the process when memory runs out.
 */
export const OOM_SCORE = 500

/**
 * Lowers the priority of this process: others go first when cores are short, and the kernel ends this one first when it
 * runs out of memory. On Linux each thread has its own niceness, and new threads inherit it: call this before anything
 * else.
 */
export function lowerPriority(): void {
  const isLinux = process.platform === 'linux'
  for (const thread of isLinux ? readdirSync('/proc/self/task') : [0]) {
    try {
      setPriority(Number(thread), NICENESS)
    } catch (error) {
      // A thread may have ended in the meantime.
      if (!isGone(error)) throw error
    }
  }
  if (isLinux) writeFileSync('/proc/self/oom_score_adj', String(OOM_SCORE))
}

const isGone = (error: unknown) =>
  /^(ENOENT|ESRCH|ERR_SYSTEM_ERROR)$/.test((error as NodeJS.ErrnoException).code ?? '')
