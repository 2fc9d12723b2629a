// What the owner says about a submission: its status and notes. What was sent stays as it was sent.

import { type Actor, allow } from '../accounts/actor.ts'
import { findSubmission, missingSubmission } from './find-submission.ts'
import { FORMS_WRITE } from './form.ts'
import type { SubmissionResource, UpdateSubmissionInput } from './schema.ts'
import { type SubmissionNeeds, submissionResource } from './submission.ts'

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
    await needs.rows.write(async (db) => {
      const { numUpdatedRows } = await db
        .updateTable('submissions')
        .set(changes)
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) missingSubmission()
    })
  }
  return submissionResource(await findSubmission(needs, actor, id))
}
