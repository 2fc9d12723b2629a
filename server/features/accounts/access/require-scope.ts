// Refuses an API key that lacks a scope of the route. It runs before the body is read, and before an Idempotency-Key
// finds the answer of another key.

import type { MiddlewareHandler } from 'hono'
import { findMissingScopes } from '../../../http/key-scope.ts'
import { Failure } from '../../../lib/failure.ts'
import type { ApiEnv } from './api-env.ts'

/** @throws Failure `forbidden`, naming every missing scope */
export const requireScope: MiddlewareHandler<ApiEnv> = (c, next) => {
  const actor = c.get('actor')
  const facts = c.get('facts')
  if (actor?.kind === 'key' && facts) {
    const missing = findMissingScopes(facts.scopes, actor.scopes ?? ['*'])
    if (missing.length > 0) throw toScopeRefusal(missing)
  }
  return next()
}

const toScopeRefusal = (missing: string[]) =>
  new Failure(
    'forbidden',
    missing.length === 1
      ? `This API key lacks the scope ${missing[0]}`
      : `This API key lacks the scopes ${missing.join(' and ')}`,
  )
