// Deleting a submission, for good.

import { type Actor, allow } from '../accounts/actor.ts'
import { findSubmission, missingSubmission } from './find-submission.ts'
import { FORMS_WRITE } from './form.ts'
import type { SubmissionResource } from './schema.ts'
import { type SubmissionNeeds, submissionResource } from './submission.ts'

/** @returns the submission as it was. @throws Failure `not_found` */
export async function deleteSubmission(
  needs: SubmissionNeeds,
  actor: Actor,
  id: number,
): Promise<SubmissionResource> {
  allow(actor, FORMS_WRITE)
  const row = await findSubmission(needs, actor, id)
  await needs.rows.write(async (db) => {
    const { numDeletedRows } = await db
      .deleteFrom('submissions')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    // Somebody else was faster.
    if (numDeletedRows === 0n) missingSubmission()
  })
  return submissionResource(row)
}
