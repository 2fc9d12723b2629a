// Sets the status or the assignee of up to 100 submissions in one transaction: all or none.

import { Failure } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { assignSubmissions, findSubmissionStates } from './assign-submissions.ts'
import type { SubmissionState, UpdateSubmissionsInput } from './bulk-schema.ts'
import { type StatusNeeds, setStatus } from './set-status.ts'

/** @returns each submission once, in the order of the request. @throws Failure `not_found` with `errors` by index */
export async function updateSubmissions(
  needs: StatusNeeds & { db: Database },
  actor: Actor,
  { ids, status, assigneeId }: UpdateSubmissionsInput,
): Promise<SubmissionState[]> {
  allow(actor, FORMS_WRITE)
  const { engine } = needs.db
  return needs.db.write(async (connection, onCommit) => {
    if (status !== undefined)
      requireAll(ids, await setStatus(connection, onCommit, { ...needs, engine }, actor, { ids, status }))
    const states = new Map((await findSubmissionStates(connection, actor, ids)).map((row) => [row.id, row]))
    requireAll(ids, new Set(states.keys()))
    if (assigneeId !== undefined) await assignSubmissions(connection, actor, { ids, assigneeId })
    return [...new Set(ids)].flatMap((id) => states.get(id) ?? [])
  })
}

/** @throws Failure `not_found`, with an error for each missing id, under its index in the request */
export function requireAll(ids: number[], found: ReadonlySet<number>) {
  const missing = ids.flatMap((id, i) => (found.has(id) ? [] : [[`${i}.id`, 'Submission not found']]))
  if (missing.length === 0) return
  throw new Failure('not_found', 'Submission not found', { errors: Object.fromEntries(missing) })
}
