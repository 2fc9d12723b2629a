// Creates a workspace for the person who asks. That person becomes its owner.

import type { Plan } from '../../../lib/plan.ts'
import { requireRoomForWorkspace } from '../access/workspace-limits.ts'
import type { CreateWorkspaceInput, WorkspaceResource } from '../schema.ts'
import { createWorkspaceWithOwnerIn } from './create-workspace.ts'
import { describeWorkspaceIn, type WorkspaceNeeds } from './describe-workspace.ts'

/** Every signed-in person may do this, because a new workspace has no data of others. @throws Failure `conflict` */
export function createOwnedWorkspace(
  needs: WorkspaceNeeds & { defaultPlan: Plan },
  userId: number,
  { name }: CreateWorkspaceInput,
): Promise<WorkspaceResource> {
  return needs.db.write(async (connection, onCommit) => {
    const workspaceId = await createWorkspaceWithOwnerIn(connection, onCommit, needs, {
      name,
      plan: needs.defaultPlan,
      ownerId: userId,
    })
    await requireRoomForWorkspace(connection, userId)
    return describeWorkspaceIn(connection, needs, { workspaceId, role: 'owner' })
  })
}
