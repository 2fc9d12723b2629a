// Deleting submissions, for good: one, or all of an e-mail address.

import { sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { ErasureResource, SubmissionResource } from '../schema.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { getSubmission, throwSubmissionNotFound } from './get-submission.ts'
import { type SubmissionNeeds, toSubmissionResource } from './submission.ts'

/** @returns the submission as it was. @throws Failure `not_found` */
export async function deleteSubmission(
  needs: SubmissionNeeds,
  actor: Actor,
  id: number,
): Promise<SubmissionResource> {
  allow(actor, FORMS_WRITE)
  const row = await getSubmission(needs, actor, id)
  await needs.db.write(async (connection) => {
    // Somebody else was faster.
    if ((await deleteByIds(connection, actor, [id])) === 0) throwSubmissionNotFound()
  })
  return toSubmissionResource(row)
}

/** A write of SQLite holds up the redirects; a megabyte takes some 10 ms to be overwritten. */
const AT_ONCE = 20
const BYTES_AT_ONCE = 256 * 1024

/** @param email in any case. @returns how many there were */
export async function eraseSubmissions(
  { db }: { db: Database },
  actor: Actor,
  email: string,
): Promise<ErasureResource> {
  allow(actor, FORMS_WRITE)
  let erased = 0
  for (;;) {
    const found = await db.write(async (connection) => {
      const ids = await listNextToErase(connection, actor, email)
      if (ids.length > 0) erased += await deleteByIds(connection, actor, ids)
      return ids.length
    })
    if (found === 0) return { email, erased }
  }
}

/** As many as are deleted in a moment; at least one where there is one. */
async function listNextToErase(
  connection: Connection,
  { workspaceId }: Actor,
  email: string,
): Promise<number[]> {
  const rows = await connection
    .selectFrom('submissions')
    .select(['id', sql<number>`octet_length(fields)`.as('bytes')])
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`lower(email) = ${email.toLowerCase()}`)
    // As the index says it.
    .where('email', 'is not', null)
    .limit(AT_ONCE)
    .execute()
  let total = 0
  const some = rows.filter(({ bytes }) => {
    total += bytes
    return total <= BYTES_AT_ONCE
  })
  return (some.length > 0 ? some : rows.slice(0, 1)).map(({ id }) => id)
}

/** With their touches and deliveries (ON DELETE CASCADE). @returns how many there were */
async function deleteByIds(connection: Connection, { workspaceId }: Actor, ids: number[]): Promise<number> {
  await deleteRetryAnswers(connection, workspaceId, ids)
  const { numDeletedRows } = await connection
    .deleteFrom('submissions')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** No other answer to a POST says what was sent: the attempts of a delivery have what its receiver answered. */
async function deleteRetryAnswers(connection: Connection, workspaceId: number, submissionIds: number[]) {
  const deliveries = await connection
    .selectFrom('deliveries')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', 'in', submissionIds)
    .execute()
  if (deliveries.length === 0) return
  await connection
    .deleteFrom('idempotency_keys')
    .where('workspace_id', '=', workspaceId)
    .where(
      'path',
      'in',
      deliveries.map(({ id }) => `/v1/deliveries/${id}/retry`),
    )
    .execute()
}
