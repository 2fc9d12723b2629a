// What no API key may ask for. Asked before anything else of a request is looked at.

import type { Context, MiddlewareHandler } from 'hono'
import { Failure } from '../../../lib/failure.ts'
import type { ApiEnv } from './guard.ts'

/** @throws Failure `forbidden` */
export function requirePerson(c: Context<ApiEnv>) {
  const person = c.get('person')
  if (!person) throw new Failure('forbidden', 'An API key may not do this: sign in')
  return person
}

export const peopleOnly: MiddlewareHandler<ApiEnv> = (c, next) => {
  requirePerson(c)
  return next()
}
