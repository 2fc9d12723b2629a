// The actor of a request, and the permissions of each kind of actor. Every function that writes calls `allow` first.

import { findMissingScopes, type KeyScope, type RouteScope } from '../../../http/key-scope.ts'
import { Failure } from '../../../lib/failure.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Role } from '../../../lib/role.ts'

interface ActorBase {
  workspaceId: number
  plan: Plan
}

/** An API key of the workspace, or the operator on the command line. */
export interface KeyActor extends ActorBase {
  kind: 'key' | 'operator'
  /** For the audit log. */
  keyId: number | null
  /** The scopes of the key; absent is full access. The gates of the route judge it, not `allow`. */
  scopes?: readonly KeyScope[]
}

/** A signed-in person in one of their workspaces. */
export interface UserActor extends ActorBase {
  kind: 'user'
  keyId: null
  userId: number
  role: Role
  /** A role limits a person, not scopes. */
  scopes?: undefined
}

export type Actor = KeyActor | UserActor

const MEMBER_ACTIONS = ['links:write', 'tags:write', 'forms:write', 'channels:write', 'views:write'] as const
/**
 * Permissions of keys that members lack: stop everything under a name, delete everything, see how the server works.
 */
const KEY_ACTIONS = [...MEMBER_ACTIONS, 'domains:delete', 'workspace:export', 'analytics:explain'] as const
/**
 * Actions on members and keys, and the audit log. No key may do them: a key stays valid after its creator has left the
 * workspace.
 */
const OWNER_ACTIONS = [
  'workspace:write',
  'workspace:delete',
  'members:write',
  'keys:write',
  'audit:read',
] as const

export type Action = (typeof KEY_ACTIONS)[number] | (typeof OWNER_ACTIONS)[number]

const ALLOWED_ACTIONS: Record<'key' | 'operator' | Role, readonly Action[]> = {
  key: KEY_ACTIONS,
  operator: [...KEY_ACTIONS, ...OWNER_ACTIONS],
  owner: [...KEY_ACTIONS, ...OWNER_ACTIONS],
  member: MEMBER_ACTIONS,
  viewer: [],
}

const VIEWER_REFUSAL = 'You are a viewer of this workspace: you can see everything here and change nothing'

/** Refuses an action that the actor may not do. @throws Failure `forbidden` */
export function allow(actor: Actor, action: Action): void {
  if (may(actor, action)) return
  const isViewer = actor.kind === 'user' && actor.role === 'viewer'
  throw new Failure('forbidden', isViewer ? VIEWER_REFUSAL : 'You may not do this')
}

export const may = (actor: Actor, action: Action) =>
  ALLOWED_ACTIONS[actor.kind === 'user' ? actor.role : actor.kind].includes(action)

/** True for a key with all of these scopes, and for a person. */
export const hasScopes = (actor: Pick<Actor, 'scopes'>, ...scopes: readonly RouteScope[]): boolean =>
  findMissingScopes(scopes, actor.scopes ?? ['*']).length === 0

/**
 * Refuses a key without one of these scopes. The gate calls it for the route's scopes; a verb calls it when the input
 * decides the effect.
 * @throws Failure `forbidden`, naming every missing scope
 */
export function requireScopes(actor: Pick<Actor, 'scopes'>, ...scopes: readonly RouteScope[]): void {
  const missing = findMissingScopes(scopes, actor.scopes ?? ['*'])
  if (missing.length === 0) return
  const noun = missing.length === 1 ? 'scope' : 'scopes'
  throw new Failure('forbidden', `This API key lacks the ${noun} ${missing.join(' and ')}`)
}

/** A person's role in the workspace; null for a key and for the operator. */
export const toRole = (actor: Actor): Role | null => (actor.kind === 'user' ? actor.role : null)
