// Erases all submissions of one e-mail address, in every form of the workspace (docs/contract.md §6).

import { sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { type AllowedSenderNeeds, eraseAllowedSender } from '../spam/allowed-senders.ts'
import type { SpamLearner } from '../spam/learn-spam.ts'
import { deleteSubmissionRows } from './delete-submission.ts'
import type { ErasureResource } from './schema.ts'

/** A write of SQLite holds up the redirects, and overwriting a megabyte takes some 10 ms. */
const AT_ONCE = 20
const BYTES_AT_ONCE = 256 * 1024

/** What has been learned from a person, and their place among the allowed senders. */
type ErasureSpamNeeds = Pick<SpamLearner, 'unlearn'> & AllowedSenderNeeds['spam']

/** @param email in upper or lower case. @returns the number of erased submissions */
export async function eraseSubmissions(
  { db, now, spam }: { db: Database; now: () => number; spam: ErasureSpamNeeds },
  actor: Actor,
  email: string,
): Promise<ErasureResource> {
  allow(actor, FORMS_WRITE)
  let erased = 0
  for (let first = true; ; first = false) {
    const selected = await db.write(async (connection, onCommit) => {
      if (first) {
        await recordErasure(connection, actor, email, now())
        await eraseAllowedSender(connection, onCommit, { spam }, actor, email)
      }
      const ids = await listNextToErase(connection, actor, email)
      // What a deleted submission has taught stays, but nothing stays of an erased person.
      await spam.unlearn(connection, onCommit, actor.workspaceId, ids)
      if (ids.length > 0) erased += await deleteSubmissionRows(connection, actor, ids)
      return ids.length
    })
    if (selected === 0) return { email, erased }
  }
}

const selectOfAddress = (connection: Connection, workspaceId: number, email: string) =>
  connection
    .selectFrom('submissions')
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`lower(email) = ${email.toLowerCase()}`)
    // The partial index has this condition, so a query must repeat it to use the index.
    .where('email', 'is not', null)

/** Stands in the first transaction, so that an erasure that is interrupted has its event. The event has no address. */
async function recordErasure(connection: Connection, actor: Actor, email: string, at: number) {
  const { n } = await selectOfAddress(connection, actor.workspaceId, email)
    .select((e) => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const count = Number(n)
  if (count > 0) await recordAudit(connection, actor, { action: 'submission.erased', detail: { count } }, at)
}

/** The next submissions to erase: at most AT_ONCE rows and BYTES_AT_ONCE bytes, but always one. */
async function listNextToErase(
  connection: Connection,
  { workspaceId }: Actor,
  email: string,
): Promise<number[]> {
  const rows = await selectOfAddress(connection, workspaceId, email)
    .select(['id', sql<number>`octet_length(fields)`.as('bytes')])
    .limit(AT_ONCE)
    .execute()
  let total = 0
  const small = rows.filter(({ bytes }) => {
    total += bytes
    return total <= BYTES_AT_ONCE
  })
  return (small.length > 0 ? small : rows.slice(0, 1)).map(({ id }) => id)
}
