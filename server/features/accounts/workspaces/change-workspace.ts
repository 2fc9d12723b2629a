// Renaming a workspace, and ending it: both are its owners' to do.

import { invalid } from '../../../lib/failure.ts'
import { type Actor, allow, type Role } from '../access/actor.ts'
import type { UpdateWorkspaceInput, WorkspaceResource } from '../schema.ts'
import { describeWorkspace, describeWorkspaceIn, type WorkspaceNeeds } from './describe-workspace.ts'
import { deleteWorkspace } from './workspaces.ts'

const toRole = (actor: Actor): Role | null => (actor.kind === 'user' ? actor.role : null)

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

export interface DeleteOwnedWorkspaceNeeds extends WorkspaceNeeds {
  /** Ends what this process still knows of it, its redirects first of all. */
  invalidateWorkspace(workspaceId: number): void
}

/**
 * Removes the workspace with all it has, for good. @param confirm its name, as a sign that it is meant
 * @returns it as it was. @throws Failure `forbidden`, `invalid`
 */
export async function deleteOwnedWorkspace(
  needs: DeleteOwnedWorkspaceNeeds,
  actor: Actor,
  confirm: string,
): Promise<WorkspaceResource> {
  allow(actor, 'workspace:delete')
  const workspace = await describeWorkspace(needs, { workspaceId: actor.workspaceId, role: toRole(actor) })
  if (confirm !== workspace.name) throw invalid({ confirm: 'must be the name of the workspace' })
  await deleteWorkspace(needs, actor.workspaceId)
  needs.invalidateWorkspace(actor.workspaceId)
  return workspace
}
