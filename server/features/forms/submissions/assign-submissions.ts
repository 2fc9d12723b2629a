// Assigns submissions to a member of the workspace, or to no one. When a member leaves, deleting the membership
// removes the assignments.

import { invalid } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { findMember } from '../../accounts/workspaces/members.ts'
import type { SubmissionState } from './bulk-schema.ts'

/** The caller has seen that the submissions are of the workspace. @throws Failure `invalid` */
export async function assignSubmissions(
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  { ids, assigneeId }: { ids: readonly number[]; assigneeId: number | null },
): Promise<void> {
  if (assigneeId === null) {
    await connection
      .deleteFrom('submission_assignees')
      .where('workspace_id', '=', workspaceId)
      .where('submission_id', 'in', ids)
      .execute()
    return
  }
  if (!(await findMember(connection, workspaceId, assigneeId)))
    throw invalid({ assigneeId: 'must be the id of a member of this workspace' })
  await connection
    .insertInto('submission_assignees')
    .values(
      [...new Set(ids)].map((id) => ({ submission_id: id, workspace_id: workspaceId, user_id: assigneeId })),
    )
    .onConflict((conflict) =>
      conflict.column('submission_id').doUpdateSet((e) => ({ user_id: e.ref('excluded.user_id') })),
    )
    .execute()
}

/** @returns the ids that the workspace has */
export async function findSubmissionStates(
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  ids: readonly number[],
): Promise<SubmissionState[]> {
  const rows = await connection
    .selectFrom('submissions')
    .select(['id', 'status'])
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .execute()
  return rows as SubmissionState[]
}
