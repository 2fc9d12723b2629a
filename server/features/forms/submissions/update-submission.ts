// Changes the status and notes of a submission. The fields that were sent never change.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { getSubmission, throwSubmissionNotFound } from './get-submission.ts'
import type { SubmissionResource, UpdateSubmissionInput } from './schema.ts'
import { type SubmissionNeeds, toSubmissionResource } from './submission.ts'

/** @throws Failure `not_found` */
export async function updateSubmission(
  needs: SubmissionNeeds,
  actor: Actor,
  id: number,
  { status, notes }: UpdateSubmissionInput,
): Promise<SubmissionResource> {
  allow(actor, FORMS_WRITE)
  const changes = {
    ...(status === undefined ? {} : { status: status ?? 'new' }),
    ...(notes === undefined ? {} : { notes }),
  }
  if (Object.keys(changes).length > 0) {
    await needs.db.write(async (connection) => {
      const { numUpdatedRows } = await connection
        .updateTable('submissions')
        .set(changes)
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) throwSubmissionNotFound()
    })
  }
  return toSubmissionResource(needs, await getSubmission(needs, actor, id))
}
