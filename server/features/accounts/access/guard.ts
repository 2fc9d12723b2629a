// Authenticates every request to the REST API: by API key, or by a person's session cookie with `X-Workspace`. The
// checks run in this order: credentials (401), plan (403), rate limit (429). Plan and plan limit apply to keys, and to
// people whose requests do not come from our own pages. See docs/contract.md §1.

import type { Context, MiddlewareHandler } from 'hono'
import { parseId } from '../../../http/api-route.ts'
import { readClientAddress } from '../../../http/client-address.ts'
import { isPersonal } from '../../../http/route-facts.ts'
import { Failure, invalid, notFound } from '../../../lib/failure.ts'
import type { Network } from '../../../lib/ip-network.ts'
import { REQUESTS_PER_MINUTE } from '../../../lib/plan.ts'
import type { WindowResult } from '../../../lib/sliding-window.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from './actor.ts'
import type { ApiEnv } from './api-env.ts'
import { readBearer } from './api-key.ts'
import { isFromOwnPage, refuseCrossOrigin } from './cross-origin.ts'
import { findKeyActor } from './keys.ts'
import { type RateLimiter, type RoughLimiter, toApiLimitKey } from './rate-limiter.ts'
import { requireSecondFactor } from './second-factors.ts'
import { findSession, findUserActor, readSessionToken, toSessionCookieName } from './session.ts'

export interface GuardNeeds {
  db: Database
  limiter: RateLimiter & RoughLimiter
  now: () => number
  origin: string
  /** Called for each request of a signed-in person in a workspace. */
  members?: {
    trustProxy: Network[]
    add(request: { userId: number; workspaceId: number; address: string; userAgent: string }): void
  }
}

/**
 * Far above the needs of a person with the dashboard: they stop programs that use a cookie (docs/contract.md §1).
 * Approximate.
 */
const PERSON_PER_MINUTE = 1200
const PERSON_PER_MINUTE_AND_WORKSPACE = 600

export function createGuard(needs: GuardNeeds): MiddlewareHandler<ApiEnv> {
  const cookie = toSessionCookieName(needs.origin)
  return async (c, next) => {
    c.set('db', needs.db)
    const authorization = c.req.header('authorization')
    const token = authorization === undefined ? readSessionToken(c.req.header('cookie'), cookie) : undefined
    if (token === undefined) await authenticateKey(needs, c, authorization)
    else await authenticatePerson(needs, c, token)
    await next()
  }
}

async function authenticateKey(
  needs: GuardNeeds,
  c: Context<ApiEnv>,
  authorization: string | undefined,
): Promise<void> {
  if (authorization === undefined || authorization.trim() === '')
    throw new Failure('missing_key', 'Missing API key')
  const key = readBearer(authorization)
  const actor = key === undefined ? undefined : await findKeyActor(needs, key)
  if (!actor) throw new Failure('invalid_key', 'Invalid API key')
  c.set('actor', actor)
  await enforcePlan(needs, c, actor)
}

/** @throws Failure `plan_too_low`, `too_many` */
async function enforcePlan(needs: GuardNeeds, c: Context<ApiEnv>, actor: Actor): Promise<void> {
  const limit = REQUESTS_PER_MINUTE[actor.plan]
  if (limit === 0) {
    setLimitHeaders(c, 0, { remaining: 0, resetMs: 0 }, needs.now())
    throw new Failure('plan_too_low', 'API access requires a Pro plan or higher')
  }
  if (c.env?.isCounted) return
  const result = await needs.limiter.take(toApiLimitKey(actor.workspaceId), limit)
  setLimitHeaders(c, limit, result, needs.now())
  if (!result.allowed) throw tooMany(result)
}

async function authenticatePerson(needs: GuardNeeds, c: Context<ApiEnv>, token: string): Promise<void> {
  refuseCrossOrigin(c.req.raw, needs.origin)
  const session = await findSession(needs, token)
  if (!session) throw new Failure('signed_out', 'Sign in to continue')
  const { user } = session
  c.set('person', user)
  c.set('sessionStart', session.createdAt)
  const result = await needs.limiter.takeRoughly(`person:${user.userId}`, PERSON_PER_MINUTE)
  if (!result.allowed) throw tooMany(result)

  const facts = c.get('facts')
  if (facts && isPersonal(facts)) return
  const workspaceId = c.req.header('x-workspace')
  if (workspaceId === undefined)
    throw invalid({ 'X-Workspace': 'is required: the id of a workspace of yours' })
  const actor = await findUserActor(needs, user.userId, parseId(workspaceId))
  if (!actor) throw notFound('Workspace')
  await requireSecondFactor(needs.db.read, actor)
  c.set('actor', actor)
  announceMember(needs, c, user.userId, actor.workspaceId)
  if (!isFromOwnPage(c.req.raw, needs.origin)) return enforcePlan(needs, c, actor)
  const here = `person:${user.userId}:${actor.workspaceId}`
  const inWorkspace = await needs.limiter.takeRoughly(here, PERSON_PER_MINUTE_AND_WORKSPACE)
  if (!inWorkspace.allowed) throw tooMany(inWorkspace)
}

function announceMember(
  { members }: GuardNeeds,
  c: Context<ApiEnv>,
  userId: number,
  workspaceId: number,
): void {
  const peer = c.env?.readPeer?.()
  if (!members || peer === undefined) return
  const address = readClientAddress(peer, c.req.header('x-forwarded-for') ?? null, members.trustProxy)
  members.add({ userId, workspaceId, address, userAgent: c.req.header('user-agent') ?? '' })
}

/** The answer 429, with `Retry-After` of at least one second. */
export function tooMany({ waitMs }: Pick<WindowResult, 'waitMs'>): Failure {
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1000))
  return new Failure('too_many', `Rate limit exceeded. Try again in ${retryAfter} seconds.`, { retryAfter })
}

function setLimitHeaders(
  c: Context,
  limit: number,
  result: Pick<WindowResult, 'remaining' | 'resetMs'>,
  now: number,
) {
  c.header('X-RateLimit-Limit', String(limit))
  c.header('X-RateLimit-Remaining', String(result.remaining))
  c.header('X-RateLimit-Reset', String(Math.ceil((now + result.resetMs) / 1000)))
}
