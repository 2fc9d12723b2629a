// One submission of a workspace.

import { notFound } from '../../lib/failure.ts'
import type { Actor } from '../accounts/actor.ts'
import { readSettled, type SubmissionNeeds, type SubmissionRow, submissionRows } from './submission.ts'

/** @throws Failure `not_found`, the same for another workspace's submission as for none. */
export async function findSubmission(
  needs: SubmissionNeeds,
  actor: Actor,
  id: number,
): Promise<SubmissionRow> {
  const [row] = await readSettled(needs, actor, () =>
    submissionRows(needs.rows.read, actor).where('submissions.id', '=', id).execute(),
  )
  return row ?? missingSubmission()
}

export function missingSubmission(): never {
  throw notFound('Submission')
}
