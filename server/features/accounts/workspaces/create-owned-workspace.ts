// A new workspace with somebody in it, who owns it.

import type { Plan } from '../../../lib/plan.ts'
import { toNestedDatabase } from '../../../storage/database/open-database.ts'
import type { CreateWorkspaceInput, WorkspaceResource } from '../schema.ts'
import { describeWorkspaceIn, type WorkspaceNeeds } from './describe-workspace.ts'
import { createWorkspace } from './workspaces.ts'

/** Anybody who has signed in may: what happens in it is its own business. */
export function createOwnedWorkspace(
  needs: WorkspaceNeeds & { defaultPlan: Plan },
  userId: number,
  { name }: CreateWorkspaceInput,
): Promise<WorkspaceResource> {
  return needs.db.write(async (connection, onCommit) => {
    const within = { db: toNestedDatabase(needs.db, connection, onCommit), now: needs.now }
    const { id } = await createWorkspace(within, { name, plan: needs.defaultPlan })
    await connection
      .insertInto('members')
      .values({ workspace_id: id, user_id: userId, role: 'owner', created_at: needs.now() })
      .execute()
    return describeWorkspaceIn(connection, needs, { workspaceId: id, role: 'owner' })
  })
}
