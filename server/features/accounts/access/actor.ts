// Who asks, and whether they may. Every write verb begins with `allow`.

import { Failure } from '../../../lib/failure.ts'
import type { Plan } from '../../../lib/plan.ts'

export const ROLES = ['owner', 'member'] as const

export type Role = (typeof ROLES)[number]

interface ActorBase {
  workspaceId: number
  plan: Plan
}

/** An API key acting for its workspace, or the operator on the command line. */
export interface KeyActor extends ActorBase {
  kind: 'key' | 'operator'
  /** The key's id, for the log. */
  keyId: number | null
}

/** A person who is signed in, in one of their workspaces. */
export interface UserActor extends ActorBase {
  kind: 'user'
  keyId: null
  userId: number
  role: Role
}

export type Actor = KeyActor | UserActor

const MEMBER_ACTIONS = ['links:write', 'tags:write', 'forms:write', 'channels:write'] as const
/** Who is in a workspace, and what opens it: a key outlives whoever made it, so no key may do these either. */
const OWNER_ACTIONS = ['workspace:write', 'workspace:delete', 'members:write', 'keys:write'] as const

export type Action = (typeof MEMBER_ACTIONS)[number] | (typeof OWNER_ACTIONS)[number]

/** What each kind of actor may do in its workspace. */
const ALLOWED_ACTIONS: Record<'key' | 'operator' | Role, readonly Action[]> = {
  key: MEMBER_ACTIONS,
  operator: [...MEMBER_ACTIONS, ...OWNER_ACTIONS],
  owner: [...MEMBER_ACTIONS, ...OWNER_ACTIONS],
  member: MEMBER_ACTIONS,
}

/** @throws Failure `forbidden` */
export function allow(actor: Actor, action: Action): void {
  if (may(actor, action)) return
  throw new Failure('forbidden', 'You may not do this')
}

export const may = (actor: Actor, action: Action) =>
  ALLOWED_ACTIONS[actor.kind === 'user' ? actor.role : actor.kind].includes(action)
