// Who asks, and whether they may. Every write verb begins with `allow`.

import { Failure } from '../../lib/failure.ts'
import type { Plan } from '../../lib/plan.ts'

/** An API key acting for its workspace, or the operator on the command line. */
export interface Actor {
  kind: 'key' | 'operator'
  workspaceId: number
  plan: Plan
  /** The key's id, for the log. */
  keyId: number | null
}

export type Action = 'links:write' | 'tags:write' | 'forms:write' | 'channels:write'

/** What each kind of actor may do in its workspace. */
const MAY: Record<Actor['kind'], readonly Action[]> = {
  key: ['links:write', 'tags:write', 'forms:write', 'channels:write'],
  operator: ['links:write', 'tags:write', 'forms:write', 'channels:write'],
}

/** @throws Failure `forbidden` */
export function allow(actor: Actor, action: Action): void {
  if (!MAY[actor.kind].includes(action)) throw new Failure('forbidden', 'You may not do this')
}
