// Renames a workspace, for its owners.

import { type Actor, allow, toRole } from '../access/actor.ts'
import type { UpdateWorkspaceInput, WorkspaceResource } from '../schema.ts'
import { describeWorkspaceIn, type WorkspaceNeeds } from './describe-workspace.ts'

/** @throws Failure `forbidden` */
export function renameWorkspace(
  needs: WorkspaceNeeds,
  actor: Actor,
  { name }: UpdateWorkspaceInput,
): Promise<WorkspaceResource> {
  allow(actor, 'workspace:write')
  return needs.db.write(async (connection) => {
    if (name !== undefined) {
      await connection
        .updateTable('workspaces')
        .set({ name, updated_at: needs.now() })
        .where('id', '=', actor.workspaceId)
        .where('name', '!=', name)
        .execute()
    }
    return describeWorkspaceIn(connection, needs, { workspaceId: actor.workspaceId, role: toRole(actor) })
  })
}
