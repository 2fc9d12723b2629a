// Permanently deletes submissions, with the answers that are stored about them.

import { cutIntoSteps, takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { getSubmission, throwSubmissionNotFound } from './get-submission.ts'
import type { SubmissionResource, SubmissionState } from './schema.ts'
import { type SubmissionNeeds, selectSubmissionsById, toSubmissionResource } from './submission.ts'
import { requireAll } from './update-submissions.ts'

/** @returns the submission as it was. @throws Failure `not_found` */
export async function deleteSubmission(
  needs: SubmissionNeeds & { now: () => number },
  actor: Actor,
  id: number,
): Promise<SubmissionResource> {
  allow(actor, FORMS_WRITE)
  const row = await getSubmission(needs, actor, id)
  await needs.db.write(async (connection) => {
    // Another request may have deleted it since it was read.
    if ((await deleteSubmissionRows(connection, actor, [id])) === 0) throwSubmissionNotFound()
    const target = { type: 'submission', id } as const
    const detail = { formKey: row.form_key }
    await recordAudit(connection, actor, { action: 'submission.deleted', target, detail }, needs.now())
  })
  return toSubmissionResource(needs, row)
}

/** Overwriting a megabyte takes some 10 ms. On SQLite, no redirect runs meanwhile. */
const STEP_BYTES = 256 * 1024

/**
 * Deletes up to 100 submissions in one transaction: all or none.
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

/** Deletes their touches, outcomes, replies and deliveries too (ON DELETE CASCADE). @returns the number of deleted submissions */
export async function deleteSubmissionRows(
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  ids: number[],
): Promise<number> {
  await deleteSentTexts(connection, workspaceId, ids)
  await deleteStoredAnswers(connection, workspaceId, ids)
  const { numDeletedRows } = await connection
    .deleteFrom('submissions')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/**
 * Deletes what other rows repeat of them: the requests of digests that sent them, and the stored answers to retries, which
 * have requests and what receivers answered.
 */
async function deleteSentTexts(connection: Connection, workspaceId: number, submissionIds: number[]) {
  const deliveries = await connection
    .selectFrom('deliveries')
    .select(['id', 'digest_id'])
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', 'in', submissionIds)
    .execute()
  if (deliveries.length === 0) return
  const digests = [...new Set(deliveries.flatMap(({ digest_id }) => digest_id ?? []))]
  if (digests.length > 0) {
    await connection
      .updateTable('delivery_attempts')
      .set({ request: null, answer: null })
      .where('workspace_id', '=', workspaceId)
      .where('delivery_id', 'in', digests)
      .execute()
  }
  const ids = [...deliveries.map(({ id }) => id), ...digests]
  const paths = ids.map((id) => `/v1/deliveries/${id}/retry`)
  await storedAnswers(connection, workspaceId).where('path', 'in', paths).execute()
}

/** The query that deletes answers which a workspace's `Idempotency-Key`s keep. */
const storedAnswers = (connection: Connection, workspaceId: number) =>
  connection.deleteFrom('idempotency_keys').where('workspace_id', '=', workspaceId)

/**
 * Deletes the stored answers about their outcomes, and those with replies of the team. No other stored answer names a
 * submission.
 */
async function deleteStoredAnswers(connection: Connection, workspaceId: number, ids: number[]) {
  const paths = ids.map((id) => `/v1/submissions/${id}/replies`)
  await storedAnswers(connection, workspaceId).where('path', 'in', paths).execute()
  await storedAnswers(connection, workspaceId)
    .where('path', '=', '/v1/outcomes')
    .where((e) => e.or(ids.map((id) => e('body', 'like', `%"submissionId":${id},%`))))
    .execute()
}
