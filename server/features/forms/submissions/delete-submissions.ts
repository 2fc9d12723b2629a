// Permanently deletes up to 100 submissions in one transaction: all or none.

import { cutIntoSteps, takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import type { SubmissionState } from './bulk-schema.ts'
import { deleteSubmissionRows } from './delete-submission.ts'
import { throwSubmissionNotFound } from './get-submission.ts'
import { selectSubmissionsById } from './submission.ts'
import { requireAll } from './update-submissions.ts'

/** Overwriting a megabyte takes some 10 ms. On SQLite, no redirect runs meanwhile. */
const STEP_BYTES = 256 * 1024

/**
 * @returns each submission once, as it was, in the order of the request.
 * @throws Failure `not_found` with `errors` by index
 */
export async function deleteSubmissions(
  { db, now }: { db: Database; now: () => number },
  actor: Actor,
  ids: number[],
): Promise<SubmissionState[]> {
  allow(actor, FORMS_WRITE)
  return db.write(async (connection) => {
    const rows = await selectSubmissionsById({ read: connection, engine: db.engine }, actor, ids)
      .select(['submissions.id', 'submissions.status'])
      .select(({ fn }) => fn<number>('octet_length', ['submissions.fields']).as('bytes'))
      .execute()
    const byId = new Map(rows.map((row) => [row.id, row]))
    requireAll(ids, new Set(byId.keys()))
    for (const step of cutIntoSteps(rows, STEP_BYTES)) {
      await takeTurn()
      const stepIds = step.map(({ id }) => id)
      // Another request may have deleted one since it was read.
      if ((await deleteSubmissionRows(connection, actor, stepIds)) < step.length) throwSubmissionNotFound()
    }
    const distinct = [...byId.values()].sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
    const detail = { count: distinct.length, ids: distinct.map(({ id }) => String(id)) }
    await recordAudit(connection, actor, { action: 'submission.deleted', detail }, now())
    return distinct.map(({ id, status }) => ({ id, status: status as SubmissionState['status'] }))
  })
}
