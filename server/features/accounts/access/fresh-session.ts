// Asks people to confirm that it is them before a request that could lose them the account or the workspace. A session
// is fresh for 15 minutes after it began, and a confirmation begins a new one (docs/contract.md §16).

import type { Context, MiddlewareHandler } from 'hono'
import { Failure } from '../../../lib/failure.ts'
import type { ApiEnv } from './api-env.ts'

const FRESH_MS = 15 * 60 * 1000

/** @param createdAt when the session began @throws Failure `confirmation_required` */
export function requireFresh(createdAt: number, now: number): void {
  if (now - createdAt <= FRESH_MS) return
  throw new Failure('confirmation_required', 'Confirm that it is you to continue')
}

/** API keys pass: they have no session. @throws Failure `confirmation_required` */
export function requireFreshCaller(c: Context<ApiEnv>, now: number): void {
  const sessionStart = c.get('sessionStart')
  if (sessionStart !== undefined) requireFresh(sessionStart, now)
}

/** A gate of /v1, for the routes that declare `fresh`. */
export const freshOnly =
  ({ now }: { now: () => number }): MiddlewareHandler<ApiEnv> =>
  (c, next) => {
    if (c.get('facts')?.fresh) requireFreshCaller(c, now())
    return next()
  }
