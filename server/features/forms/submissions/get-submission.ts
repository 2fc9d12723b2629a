// Finds one submission of a workspace by its id.

import { notFound } from '../../../lib/failure.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import {
  addFilesAndOutcomes,
  readWithAttribution,
  type SubmissionNeeds,
  type SubmissionRow,
  selectSubmissions,
} from './submission.ts'

/** @throws Failure `not_found`, the same for a submission of another workspace and for an unknown id */
export async function getSubmission(
  needs: SubmissionNeeds,
  actor: Actor,
  id: number,
): Promise<SubmissionRow> {
  const [row] = await readWithAttribution(needs, actor, async () => {
    const { read } = needs.db
    return addFilesAndOutcomes(
      read,
      actor,
      await selectSubmissions(read, actor).where('submissions.id', '=', id).execute(),
    )
  })
  return row ?? throwSubmissionNotFound()
}

export function throwSubmissionNotFound(): never {
  throw notFound('Submission')
}
