// Changes the status, the assignee and the notes of one submission, or status and assignee of up to 100: all or none. The
// fields that were sent never change.

import { Failure, invalid } from '../../../lib/failure.ts'
import type { Connection, OnCommit } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { findMember } from '../../accounts/workspaces/members.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { getSubmission, throwSubmissionNotFound } from './get-submission.ts'
import type {
  SubmissionResource,
  SubmissionState,
  UpdateSubmissionInput,
  UpdateSubmissionsInput,
} from './schema.ts'
import { type StatusNeeds, setStatus } from './set-status.ts'
import { type SubmissionNeeds, toSubmissionResource } from './submission.ts'

/** @throws Failure `not_found`, `invalid` */
export async function updateSubmission(
  needs: SubmissionNeeds & StatusNeeds,
  actor: Actor,
  id: number,
  { status, notes, assigneeId }: UpdateSubmissionInput,
): Promise<SubmissionResource> {
  allow(actor, FORMS_WRITE)
  if (status !== undefined || notes !== undefined || assigneeId !== undefined)
    await needs.db.write(async (connection, onCommit) => {
      const change = { ids: [id], status, assigneeId }
      const states = await changeStates(connection, onCommit, needs, actor, change)
      if (states.size === 0) throwSubmissionNotFound()
      if (notes === undefined) return
      await connection
        .updateTable('submissions')
        .set({ notes })
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', id)
        .execute()
    })
  return toSubmissionResource(needs, await getSubmission(needs, actor, id))
}

/** @returns each submission once, in the order of the request. @throws Failure `not_found` with `errors` by index, `invalid` */
export async function updateSubmissions(
  needs: StatusNeeds,
  actor: Actor,
  input: UpdateSubmissionsInput,
): Promise<SubmissionState[]> {
  allow(actor, FORMS_WRITE)
  const { ids } = input
  return needs.db.write(async (connection, onCommit) => {
    const states = await changeStates(connection, onCommit, needs, actor, input)
    requireAll(ids, states)
    return [...new Set(ids)].flatMap((id) => states.get(id) ?? [])
  })
}

/** @throws Failure `not_found`, with an error for each missing id, under its index in the request */
export function requireAll(ids: number[], found: Pick<ReadonlySet<number>, 'has'>) {
  const missing = ids.flatMap((id, i) => (found.has(id) ? [] : [[`${i}.id`, 'Submission not found']]))
  if (missing.length === 0) return
  throw new Failure('not_found', 'Submission not found', { errors: Object.fromEntries(missing) })
}

/** @returns the states of those that exist, by id. Nothing has changed where one is missing. @throws Failure `invalid` */
async function changeStates(
  connection: Connection,
  onCommit: OnCommit,
  needs: StatusNeeds,
  actor: Actor,
  { ids, status, assigneeId }: UpdateSubmissionsInput,
): Promise<Map<number, SubmissionState>> {
  if (status !== undefined)
    await setStatus(connection, onCommit, needs, actor, { ids, status: status ?? 'new' })
  const states = await connection
    .selectFrom('submissions')
    .select(['id', 'status'])
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', 'in', ids)
    .execute()
  const byId = new Map(states.map((state) => [state.id, state as SubmissionState]))
  if (assigneeId !== undefined && ids.every((id) => byId.has(id)))
    await assignSubmissions(connection, actor, ids, assigneeId)
  return byId
}

/** To a member, or to no one. When a member leaves, deleting the membership removes the assignments. */
async function assignSubmissions(
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  ids: readonly number[],
  assigneeId: number | null,
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
