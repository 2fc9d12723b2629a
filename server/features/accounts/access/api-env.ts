// The request context of REST API handlers, and the factory of a group of routes.

import { OpenAPIHono } from '@hono/zod-openapi'
import type { RouteFacts } from '../../../http/route-facts.ts'
import { refuseInvalid } from '../../../http/validation.ts'
import type { Failure } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from './actor.ts'
import type { Person } from './session.ts'

export interface ApiEnv {
  /** Absent when the request did not come through a socket. */
  Bindings: {
    /** How long the connection may be idle; 0 is no limit. */
    setIdleSeconds?(seconds: number): void
    /** The request that made this one, in the process, has been counted toward the plan's limit. */
    isCounted?: boolean
    /** The address of the other end of the connection. */
    readPeer?(): string | undefined
  }
  Variables: {
    requestId: string
    /** The facts of the route; absent when no route has this path. */
    facts?: RouteFacts
    /** Why no route answers. Only a caller who has signed in may see it. */
    noRoute?: Failure
    /** Absent when a person's request is about no workspace. */
    actor: Actor
    /** The signed-in person; absent for a key. */
    person?: Person
    /** When the session of the person began, in milliseconds; absent for a key. */
    sessionStart?: number
    /** The database; inside the request's transaction when the request has an Idempotency-Key. */
    db: Database
  }
}

/** A group of routes that answers invalid input with 422 (docs/contract.md §1). */
export const createApi = () => new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid as never })
