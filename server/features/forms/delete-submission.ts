// Deleting submissions, for good: one, or all of an e-mail address.

import { sql } from 'kysely'
import type { Db, Rows } from '../../storage/rows/open.ts'
import { type Actor, allow } from '../accounts/actor.ts'
import { findSubmission, missingSubmission } from './find-submission.ts'
import { FORMS_WRITE } from './form.ts'
import type { ErasedResource, SubmissionResource } from './schema.ts'
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
    // Somebody else was faster.
    if ((await deleteIn(db, actor, [id])) === 0) missingSubmission()
  })
  return submissionResource(row)
}

/** A write of SQLite holds up the redirects; a megabyte takes some 10 ms to be overwritten. */
const AT_ONCE = 20
const BYTES_AT_ONCE = 256 * 1024

/** @param email in any case. @returns how many there were */
export async function eraseSubmissions(
  { rows }: { rows: Rows },
  actor: Actor,
  email: string,
): Promise<ErasedResource> {
  allow(actor, FORMS_WRITE)
  let erased = 0
  for (;;) {
    const found = await rows.write(async (db) => {
      const ids = await someOf(db, actor, email)
      if (ids.length > 0) erased += await deleteIn(db, actor, ids)
      return ids.length
    })
    if (found === 0) return { email, erased }
  }
}

/** As many as are deleted in a moment; at least one where there is one. */
async function someOf(db: Db, { workspaceId }: Actor, email: string): Promise<number[]> {
  const rows = await db
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
async function deleteIn(db: Db, { workspaceId }: Actor, ids: number[]): Promise<number> {
  await forgetAnswers(db, workspaceId, ids)
  const { numDeletedRows } = await db
    .deleteFrom('submissions')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** No other answer to a POST says what was sent: the attempts of a delivery have what its receiver answered. */
async function forgetAnswers(db: Db, workspaceId: number, submissionIds: number[]) {
  const deliveries = await db
    .selectFrom('deliveries')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', 'in', submissionIds)
    .execute()
  if (deliveries.length === 0) return
  await db
    .deleteFrom('idempotency_keys')
    .where('workspace_id', '=', workspaceId)
    .where(
      'path',
      'in',
      deliveries.map(({ id }) => `/v1/deliveries/${id}/retry`),
    )
    .execute()
}
