// The gate of the REST API: who asks (401), may the plan (403), how often (429). In this order, for every path.
// Two ways in: an API key, or the cookie of a person who names one of their workspaces.

import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { parseId } from '../../../http/api-route.ts'
import { isPersonal, type RouteFacts } from '../../../http/route-facts.ts'
import { refuseInvalid } from '../../../http/validation.ts'
import { Failure, invalid, notFound } from '../../../lib/failure.ts'
import { REQUESTS_PER_MINUTE } from '../../../lib/plan.ts'
import type { WindowResult } from '../../../lib/sliding-window.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from './actor.ts'
import { refuseCrossOrigin } from './cross-origin.ts'
import { findKeyActor } from './keys.ts'
import { type RateLimiter, toApiLimitKey } from './rate-limiter.ts'
import { findSession, findUserActor, type Person, readSessionToken, toSessionCookieName } from './session.ts'

/** What handlers of the REST API find in their context. */
export interface ApiEnv {
  /** Absent where no socket is behind the request. */
  Bindings: {
    /** For how long the connection may be silent; 0 is for ever. */
    setIdleSeconds?(seconds: number): void
  }
  Variables: {
    requestId: string
    /** What the route says of itself; not there where no route has this path. */
    facts?: RouteFacts
    /** Why no route answers, to be said to whoever may know which routes there are. */
    noRoute?: Failure
    /** Not there for a person's request that is about no workspace. */
    actor: Actor
    /** Who has signed in; not there for a key. */
    person?: Person
    /** The row store; inside the request's transaction when it carries an Idempotency-Key. */
    db: Database
  }
}

/** A group of routes whose invalid input is answered as docs/contract.md §1 says. */
export const createApi = () => new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid as never })

export interface GuardNeeds {
  db: Database
  limiter: RateLimiter
  now: () => number
  origin: string
}

const BEARER = /^Bearer +(\S+) *$/i

/** A dashboard asks for what people do; this is for programs that run wild with a cookie. */
const PERSON_PER_MINUTE = 1200

export function createGuard(needs: GuardNeeds): MiddlewareHandler<ApiEnv> {
  const cookie = toSessionCookieName(needs.origin)
  return async (c, next) => {
    c.set('db', needs.db)
    const given = c.req.header('authorization')
    const token = given === undefined ? readSessionToken(c.req.header('cookie'), cookie) : undefined
    if (token === undefined) await authenticateKey(needs, c, given)
    else await authenticatePerson(needs, c, token)
    await next()
  }
}

async function authenticateKey(
  needs: GuardNeeds,
  c: Context<ApiEnv>,
  given: string | undefined,
): Promise<void> {
  if (given === undefined || given.trim() === '') throw new Failure('missing_key', 'Missing API key')
  const key = BEARER.exec(given)?.[1]
  const actor = key === undefined ? undefined : await findKeyActor(needs, key)
  if (!actor) throw new Failure('invalid_key', 'Invalid API key')
  c.set('actor', actor)

  const limit = REQUESTS_PER_MINUTE[actor.plan]
  if (limit === 0) {
    setLimitHeaders(c, 0, { remaining: 0, resetMs: 0 }, needs.now())
    throw new Failure('plan_too_low', 'API access requires a Pro plan or higher')
  }
  const taken = await needs.limiter.take(toApiLimitKey(actor.workspaceId), limit)
  setLimitHeaders(c, limit, taken, needs.now())
  if (!taken.allowed) throw tooMany(taken)
}

async function authenticatePerson(needs: GuardNeeds, c: Context<ApiEnv>, token: string): Promise<void> {
  refuseCrossOrigin(c.req.raw, needs.origin)
  const session = await findSession(needs, token)
  if (!session) throw new Failure('signed_out', 'Sign in to continue')
  const { user } = session
  c.set('person', user)
  const taken = await needs.limiter.take(`person:${user.userId}`, PERSON_PER_MINUTE)
  if (!taken.allowed) throw tooMany(taken)

  const facts = c.get('facts')
  if (facts && isPersonal(facts)) return
  const named = c.req.header('x-workspace')
  if (named === undefined) throw invalid({ 'X-Workspace': 'is required: the id of a workspace of yours' })
  const actor = await findUserActor(needs, user.userId, parseId(named))
  if (!actor) throw notFound('Workspace')
  c.set('actor', actor)
}

export function tooMany({ waitMs }: Pick<WindowResult, 'waitMs'>): Failure {
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1000))
  return new Failure('too_many', `Rate limit exceeded. Try again in ${retryAfter} seconds.`, { retryAfter })
}

function setLimitHeaders(
  c: Context,
  limit: number,
  taken: Pick<WindowResult, 'remaining' | 'resetMs'>,
  now: number,
) {
  c.header('X-RateLimit-Limit', String(limit))
  c.header('X-RateLimit-Remaining', String(taken.remaining))
  c.header('X-RateLimit-Reset', String(Math.ceil((now + taken.resetMs) / 1000)))
}
