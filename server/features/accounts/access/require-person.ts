// What no API key may ask for.

import type { Context, MiddlewareHandler } from 'hono'
import { isForPeople } from '../../../http/route-facts.ts'
import { Failure } from '../../../lib/failure.ts'
import type { ApiEnv } from './guard.ts'

/** @throws Failure `forbidden` */
export function requirePerson(c: Context<ApiEnv>) {
  const person = c.get('person')
  if (!person) throw new Failure('forbidden', 'An API key may not do this: sign in')
  return person
}

/** The last gate: it refuses an API key where the route is for people. */
export const peopleOnly: MiddlewareHandler<ApiEnv> = (c, next) => {
  const facts = c.get('facts')
  if (facts && isForPeople(facts)) requirePerson(c)
  return next()
}
