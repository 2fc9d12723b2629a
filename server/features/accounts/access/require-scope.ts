// Enforces the scopes of an API key: one gate refuses routes, a second removes unreadable fields from answers.

import type { MiddlewareHandler } from 'hono'
import { hasScopes, requireScopes } from './actor.ts'
import type { ApiEnv } from './api-env.ts'

/**
 * Runs before the body is read, and before an Idempotency-Key finds a stored answer.
 * @throws Failure `forbidden`, naming every missing scope
 */
export const requireScope: MiddlewareHandler<ApiEnv> = (c, next) => {
  const actor = c.get('actor')
  const facts = c.get('facts')
  if (actor && facts) requireScopes(actor, ...facts.scopes)
  return next()
}

/** Members of `WrittenShape` that only the answer to a create has. */
const CREATED = ['shortUrl', 'endpoint', 'dns']

/**
 * Wraps the Idempotency-Key, so that a stored answer is limited to the scopes of the key that repeats the request.
 */
export const limitAnswer: MiddlewareHandler<ApiEnv> = async (c, next) => {
  await next()
  const actor = c.get('actor')
  const facts = c.get('facts')
  if (!actor || !facts || !c.res.ok || hasScopes(actor, ...facts.shows)) return
  const { data } = (await c.res.json()) as { data: object | object[] | null }
  const limit = (resource: object) => {
    const names = ['id' in resource ? 'id' : 'formKey', 'updatedAt', ...(c.res.status === 201 ? CREATED : [])]
    return Object.fromEntries(Object.entries(resource).filter(([name]) => names.includes(name)))
  }
  c.res = Response.json({ data: Array.isArray(data) ? data.map(limit) : data && limit(data) }, c.res)
}
