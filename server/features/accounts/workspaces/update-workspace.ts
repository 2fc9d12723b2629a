// Renames a workspace, and says whether its members need a second factor; for its owners.

import { invalid } from '../../../lib/failure.ts'
import { type Actor, allow, toRole } from '../access/actor.ts'
import { hasSecondFactor } from '../access/second-factors.ts'
import type { UpdateWorkspaceInput, WorkspaceResource } from '../schema.ts'
import { describeWorkspaceIn, type WorkspaceNeeds } from './describe-workspace.ts'

/** @throws Failure `forbidden`, `invalid` */
export function updateWorkspace(
  needs: WorkspaceNeeds,
  actor: Actor,
  { name, requireTwoFactor }: UpdateWorkspaceInput,
): Promise<WorkspaceResource> {
  allow(actor, 'workspace:write')
  return needs.db.write(async (connection) => {
    // An owner without one would lock themselves out.
    if (requireTwoFactor && actor.kind === 'user' && !(await hasSecondFactor(connection, actor.userId)))
      throw invalid({ requireTwoFactor: 'needs a second factor of your own: set one up in your account' })
    const changes = {
      ...(name !== undefined && { name }),
      ...(requireTwoFactor !== undefined && { require_two_factor: requireTwoFactor ? 1 : 0 }),
    }
    if (Object.keys(changes).length > 0) {
      await connection
        .updateTable('workspaces')
        .set({ ...changes, updated_at: needs.now() })
        .where('id', '=', actor.workspaceId)
        .execute()
    }
    return describeWorkspaceIn(connection, needs, { workspaceId: actor.workspaceId, role: toRole(actor) })
  })
}
