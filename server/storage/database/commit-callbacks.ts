// Runs the callbacks of a transaction after its commit.

import { describeError, log } from '../../lib/log.ts'

/** An error in one callback is logged. It does not stop the other callbacks, and the rows are stored anyway. */
export function runCommitCallbacks(callbacks: (() => void)[]): void {
  for (const callback of callbacks) {
    try {
      callback()
    } catch (error) {
      log.error('on_commit_failed', describeError(error))
    }
  }
}
