// Refuses API keys on the routes that are only for signed-in people.

import type { Context, MiddlewareHandler } from 'hono'
import { isForPeople } from '../../../http/route-facts.ts'
import { Failure } from '../../../lib/failure.ts'
import type { ApiEnv } from './api-env.ts'

/** @throws Failure `forbidden` for an API key */
export function requirePerson(c: Context<ApiEnv>) {
  const person = c.get('person')
  if (!person) throw new Failure('forbidden', 'An API key may not do this: sign in')
  return person
}

/** The last middleware before the handler. */
export const peopleOnly: MiddlewareHandler<ApiEnv> = (c, next) => {
  const facts = c.get('facts')
  if (facts && isForPeople(facts)) requirePerson(c)
  return next()
}
