// Changes the status, the notes and the assignee of a submission. The fields that were sent never change.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { assignSubmissions, findSubmissionStates } from './assign-submissions.ts'
import { getSubmission, throwSubmissionNotFound } from './get-submission.ts'
import type { SubmissionResource, UpdateSubmissionInput } from './schema.ts'
import { type StatusNeeds, setStatus } from './set-status.ts'
import { type SubmissionNeeds, toSubmissionResource } from './submission.ts'

/** @throws Failure `not_found` */
export async function updateSubmission(
  needs: SubmissionNeeds & StatusNeeds,
  actor: Actor,
  id: number,
  { status, notes, assigneeId }: UpdateSubmissionInput,
): Promise<SubmissionResource> {
  allow(actor, FORMS_WRITE)
  if (status === undefined && notes === undefined && assigneeId === undefined)
    return toSubmissionResource(needs, await getSubmission(needs, actor, id))
  const { engine } = needs.db
  await needs.db.write(async (connection, onCommit) => {
    if (status !== undefined) {
      const change = { ids: [id], status: status ?? 'new' }
      const found = await setStatus(connection, onCommit, { ...needs, engine }, actor, change)
      if (found.size === 0) throwSubmissionNotFound()
    }
    if (notes !== undefined) {
      const { numUpdatedRows } = await connection
        .updateTable('submissions')
        .set({ notes })
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) throwSubmissionNotFound()
    }
    if (assigneeId === undefined) return
    if ((await findSubmissionStates(connection, actor, [id])).length === 0) throwSubmissionNotFound()
    await assignSubmissions(connection, actor, { ids: [id], assigneeId })
  })
  return toSubmissionResource(needs, await getSubmission(needs, actor, id))
}
