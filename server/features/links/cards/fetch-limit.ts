// Limits how often a workspace, and everybody together, makes this server fetch addresses that people have typed.

import { Failure } from '../../../lib/failure.ts'
import { tooMany } from '../../accounts/access/guard.ts'
import type { RateLimiter } from '../../accounts/access/rate-limiter.ts'

/** Runs a fetch for a workspace. @throws Failure `too_many` */
export type FetchLimit = <T>(workspaceId: number, run: () => Promise<T>) => Promise<T>

/** A person who edits a link fetches its card and its image. */
const PER_MINUTE = 60
/** Each holds up to five megabytes for up to five seconds. */
const AT_ONCE = 8

export function createFetchLimit(limiter: Pick<RateLimiter, 'take'>): FetchLimit {
  let running = 0
  return async (workspaceId, run) => {
    const permit = await limiter.take(`cards of ${workspaceId}`, PER_MINUTE)
    if (!permit.allowed) throw tooMany(permit)
    if (running >= AT_ONCE) {
      const message = 'The server fetches too many pages at this moment. Try again in 5 seconds.'
      throw new Failure('too_many', message, { retryAfter: 5 })
    }
    running++
    try {
      return await run()
    } finally {
      running--
    }
  }
}
