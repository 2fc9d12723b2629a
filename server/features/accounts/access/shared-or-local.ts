// Counts in PostgreSQL, and in memory while PostgreSQL is away: a limit must not refuse everybody with 503, nor let
// everybody through.

import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { toFailure } from '../../../storage/database/errors.ts'

/** How often one question goes to PostgreSQL while it is away. Nobody waits for its answer. */
const RETRY_MS = 1_000

export type SharedOrLocal = <T>(shared: () => Promise<T>, local: () => T | Promise<T>) => Promise<T>

/** @param probe throws while the shared limits cannot be used */
export function createSharedOrLocal(
  probe: () => Promise<unknown>,
  clock = () => performance.now(),
): SharedOrLocal {
  let isAway = false
  let probedAt = 0

  async function probeAgain() {
    probedAt = clock()
    try {
      await probe()
    } catch {
      // The log says already that the limits are in memory, and why.
      return
    }
    isAway = false
    log.info('limits_shared_again')
  }

  return async (shared, local) => {
    if (isAway) {
      if (clock() - probedAt >= RETRY_MS) void probeAgain()
      return local()
    }
    try {
      return await shared()
    } catch (error) {
      const failure = toFailure(error)
      if (!(failure instanceof Failure && failure.code === 'unavailable')) throw error
      if (!isAway) log.warn('limits_in_memory', describeError(failure.detail.cause))
      isAway = true
      probedAt = clock()
      return local()
    }
  }
}
