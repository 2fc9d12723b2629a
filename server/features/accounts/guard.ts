// The gate of the REST API: who asks (401), may the plan (403), how often (429). In this order, for every path.

import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { refuseInvalid } from '../../http/validation.ts'
import { Failure } from '../../lib/failure.ts'
import { REQUESTS_PER_MINUTE } from '../../lib/plan.ts'
import type { Taken } from '../../lib/sliding-window.ts'
import type { Rows } from '../../storage/rows/open.ts'
import type { Actor } from './actor.ts'
import { findKeyActor } from './keys.ts'
import type { RateLimiter } from './limits.ts'

/** What handlers of the REST API find in their context. */
export interface ApiEnv {
  /** Absent where no socket is behind the request. */
  Bindings: {
    /** For how long the connection may be silent; 0 is for ever. */
    setIdleSeconds?(seconds: number): void
  }
  Variables: {
    requestId: string
    actor: Actor
    /** The row store; inside the request's transaction when it carries an Idempotency-Key. */
    rows: Rows
  }
}

/** A group of routes whose invalid input is answered as the contract says. */
export const newApi = () => new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid as never })

const BEARER = /^Bearer +(\S+) *$/i

export function guard(needs: {
  rows: Rows
  limiter: RateLimiter
  now: () => number
}): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const given = c.req.header('authorization')
    if (given === undefined || given.trim() === '') throw new Failure('missing_key', 'Missing API key')
    const key = BEARER.exec(given)?.[1]
    const actor = key === undefined ? undefined : await findKeyActor(needs, key)
    if (!actor) throw new Failure('invalid_key', 'Invalid API key')
    c.set('actor', actor)
    c.set('rows', needs.rows)

    const limit = REQUESTS_PER_MINUTE[actor.plan]
    if (limit === 0) {
      showLimit(c, 0, { remaining: 0, resetMs: 0 }, needs.now())
      throw new Failure('plan_too_low', 'API access requires a Pro plan or higher')
    }
    const taken = await needs.limiter.take(`api:${actor.workspaceId}`, limit)
    showLimit(c, limit, taken, needs.now())
    if (!taken.allowed) {
      const retryAfter = Math.max(1, Math.ceil(taken.waitMs / 1000))
      throw new Failure('too_many', `Rate limit exceeded. Try again in ${retryAfter} seconds.`, {
        retryAfter,
      })
    }
    await next()
  }
}

function showLimit(c: Context, limit: number, taken: Pick<Taken, 'remaining' | 'resetMs'>, now: number) {
  c.header('X-RateLimit-Limit', String(limit))
  c.header('X-RateLimit-Remaining', String(taken.remaining))
  c.header('X-RateLimit-Reset', String(Math.ceil((now + taken.resetMs) / 1000)))
}
