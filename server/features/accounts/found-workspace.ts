// A new workspace with somebody in it, who owns it.

import type { Plan } from '../../lib/plan.ts'
import { rowsWithin } from '../../storage/rows/open.ts'
import { describeIn, type WorkspaceNeeds } from './describe-workspace.ts'
import type { CreateWorkspaceInput, WorkspaceResource } from './schema.ts'
import { createWorkspace } from './workspaces.ts'

/** Anybody who has signed in may: what happens in it is its own business. */
export function foundWorkspace(
  needs: WorkspaceNeeds & { defaultPlan: Plan },
  userId: number,
  { name }: CreateWorkspaceInput,
): Promise<WorkspaceResource> {
  return needs.rows.write(async (db, onCommit) => {
    const within = { rows: rowsWithin(needs.rows, db, onCommit), now: needs.now }
    const { id } = await createWorkspace(within, { name, plan: needs.defaultPlan })
    await db
      .insertInto('members')
      .values({ workspace_id: id, user_id: userId, role: 'owner', created_at: needs.now() })
      .execute()
    return describeIn(db, needs, { workspaceId: id, role: 'owner' })
  })
}
