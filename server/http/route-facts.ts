// What a route says of itself beside its shape. It is said once, where the route is declared; the gates, the API
// reference and docs/routes.md read it there.

/** Who may call a route. For `member` and `keyOrMember`, a person names one of their workspaces. */
export type Caller = 'anybody' | 'person' | 'member' | 'keyOrPerson' | 'keyOrMember'

/** What the body of a POST, PUT or PATCH may be. `none`: the address says everything. */
export type BodyKind = 'none' | 'object' | 'objectOrList'

export interface RouteFacts {
  by: Caller
  body: BodyKind
  /** A POST that takes an Idempotency-Key. */
  idempotent: boolean
  /** The answer has a secret that is shown only this once: it is stored sealed, or not at all. */
  secretInAnswer: boolean
  /** The handler waits for somebody else's server, which must not happen inside a transaction. */
  slow: boolean
}

/** For a person, a request of such a route is about no workspace. */
export const isPersonal = ({ by }: Pick<RouteFacts, 'by'>) => by === 'person' || by === 'keyOrPerson'

/** No API key may ask this: it is for people to see and to change. */
export const isForPeople = ({ by }: Pick<RouteFacts, 'by'>) => by === 'person' || by === 'member'
