// Deletes a workspace, for its owners.

import { invalid } from '../../../lib/failure.ts'
import { log } from '../../../lib/log.ts'
import { type Actor, allow, toRole } from '../access/actor.ts'
import { refuseSuspendedLinks } from '../access/suspension.ts'
import type { WorkspaceResource } from '../schema.ts'
import { deleteWorkspace } from './delete-workspace.ts'
import { describeWorkspace, type WorkspaceNeeds } from './describe-workspace.ts'

/**
 * Deletes the workspace with everything in it. @param confirm must be the name of the workspace
 * @returns the workspace as it was. @throws Failure `forbidden`, `invalid`
 */
export async function deleteOwnedWorkspace(
  needs: WorkspaceNeeds,
  actor: Actor,
  confirm: string,
): Promise<WorkspaceResource> {
  allow(actor, 'workspace:delete')
  const workspace = await describeWorkspace(needs, { workspaceId: actor.workspaceId, role: toRole(actor) })
  if (confirm !== workspace.name) throw invalid({ confirm: 'must be the name of the workspace' })
  await refuseSuspendedLinks(needs.db.read, actor.workspaceId)
  await deleteWorkspace(needs, actor.workspaceId)
  // The audit log of the workspace is deleted with it.
  const userId = actor.kind === 'user' ? actor.userId : null
  log.info('workspace_deleted', { workspaceId: actor.workspaceId, userId })
  return workspace
}
