// The facts that a route declares beside its shape. The gates, the API reference and docs/routes.md read them from the
// declaration.

import type { RouteScope } from './key-scope.ts'

/** Who may call a route. On a route for `member` or `keyOrMember`, a person names one of their workspaces. */
export type Caller = 'anybody' | 'person' | 'member' | 'keyOrPerson' | 'keyOrMember'

/**
 * The kind of body of a POST, PUT or PATCH. `upload`: an object, or a multipart form that the route reads as a
 * stream.
 */
export type BodyKind = 'none' | 'object' | 'objectOrList' | 'upload'

export interface RouteFacts {
  by: Caller
  /** The scopes that an API key needs: all of them. Empty where any key may call, and where no key may. */
  scopes: readonly RouteScope[]
  /** The scopes that an API key needs to see the whole answer. Without them it sees `WrittenShape` (api-route.ts). */
  shows: readonly RouteScope[]
  body: BodyKind
  /** A POST that takes an Idempotency-Key. */
  idempotent: boolean
  /** The answer has a secret that is shown only this once: the answer is stored sealed, or not at all. */
  secretInAnswer: boolean
  /** The handler waits for an external server, so it must not run inside a transaction. */
  slow: boolean
  /** A person's session must be fresh: signed in, or confirmed, within the last 15 minutes. Keys are not affected. */
  fresh: boolean
}

/** A person's request to such a route names no workspace. */
export const isPersonal = ({ by }: Pick<RouteFacts, 'by'>) => by === 'person' || by === 'keyOrPerson'

/** No API key may call such a route. */
export const isForPeople = ({ by }: Pick<RouteFacts, 'by'>) => by === 'person' || by === 'member'
