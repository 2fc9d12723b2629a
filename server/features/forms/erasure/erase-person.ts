// Erases all of one email address, in every form of the workspace: submissions with their files, notifications and replies
// (docs/contract.md §6). Repeating an erasure that was interrupted erases the rest.

import { cutIntoSteps } from '../../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { REPLY_EVENTS } from '../../notify/outbox/enqueue-reply.ts'
import type { AddressHasher } from '../replies/mailbox.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { eraseAllowedSender } from '../spam/allowed-senders.ts'
import type { SpamLearner } from '../spam/learn-spam.ts'
import type { WorkspaceSpamCache } from '../spam/workspace-spam.ts'
import { deleteSubmissionRows } from '../submissions/delete-submissions.ts'
import type { SubmissionNeeds } from '../submissions/submission.ts'
import {
  addToReceipt,
  beginReceipt,
  type ErasedCounts,
  endReceipt,
  type ReceiptHasher,
  toReceipt,
} from './erasure-receipt.ts'
import { scanPerson, selectOfAddress } from './find-person.ts'
import type { ErasureResource } from './schema.ts'

/** A write of SQLite holds up the redirects, and overwriting a megabyte takes some 10 ms. */
const AT_ONCE = 20
const BYTES_AT_ONCE = 256 * 1024

export interface PersonErasureNeeds extends SubmissionNeeds {
  now: () => number
  hashReceipt: ReceiptHasher
  /** Names a mailbox in the limits and the stop list of replies. */
  hashAddress: AddressHasher
  /** The classifier's lessons from a person, and their place among the allowed senders. */
  spam: Pick<SpamLearner, 'unlearn'> & Pick<WorkspaceSpamCache, 'invalidate'>
}

/** @param email in upper or lower case */
export async function erasePerson(
  needs: PersonErasureNeeds,
  actor: Actor,
  email: string,
): Promise<ErasureResource> {
  allow(actor, FORMS_WRITE)
  const { db, now } = needs
  const { workspaceId } = actor
  const emailHash = needs.hashReceipt(workspaceId, email)
  const { id, recorded } = await db.write(async (connection) => ({
    recorded: await recordErasure(connection, actor, email, now()),
    id: await beginReceipt(connection, { workspaceId, emailHash }, now()),
  }))
  let erased = 0
  // To its end, also when the caller is gone: a receipt says that nothing is left.
  for await (const rows of scanPerson(needs, actor, email)) {
    const sized = rows.map((row) => ({ id: row.id, bytes: Buffer.byteLength(row.fields) }))
    for (const step of toSteps(sized)) {
      erased += await db.write(async (connection, onCommit) => {
        const ids = step.map((row) => row.id)
        // The classifier keeps the lessons of a deleted submission, but none of an erased person.
        await needs.spam.unlearn(connection, onCommit, workspaceId, ids)
        const counts = await eraseSubmissions(connection, actor, ids)
        await addToReceipt(connection, { workspaceId, id }, counts)
        return counts.submissions
      })
    }
  }
  return db.write(async (connection, onCommit) => {
    await eraseAllowedSender(connection, onCommit, needs, actor, email)
    await eraseReplyRecords(needs, connection, workspaceId, email)
    // Submissions with the address in another field were unknown at the beginning.
    const others = erased - recorded
    if (others > 0) await recordEvent(connection, actor, others, now())
    const receipt = await endReceipt(connection, { workspaceId, id }, now())
    return { email, erased, receipt: toReceipt(receipt) }
  })
}

function* toSteps(rows: { id: number; bytes: number }[]) {
  for (let from = 0; from < rows.length; from += AT_ONCE)
    yield* cutIntoSteps(rows.slice(from, from + AT_ONCE), BYTES_AT_ONCE)
}

/** Part of the first transaction, so that an interrupted erasure has its event. @returns the submissions in it */
async function recordErasure(connection: Connection, actor: Actor, email: string, at: number) {
  const { n } = await selectOfAddress(connection, actor.workspaceId, email)
    .select((e) => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const count = Number(n)
  if (count > 0) await recordEvent(connection, actor, count, at)
  return count
}

/** The event has no address. */
const recordEvent = (connection: Connection, actor: Actor, count: number, at: number) =>
  recordAudit(connection, actor, { action: 'submission.erased', detail: { count } }, at)

/** Deletes the rows. A job deletes the files of the deleted rows from the file store. */
async function eraseSubmissions(connection: Connection, actor: Actor, ids: number[]): Promise<ErasedCounts> {
  const { workspaceId } = actor
  const files = await connection
    .selectFrom('submission_files')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', 'in', ids)
    .execute()
  const deliveries = await connection
    .selectFrom('deliveries')
    .select('event')
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', 'in', ids)
    .execute()
  const replies = deliveries.filter(({ event }) => (REPLY_EVENTS as readonly string[]).includes(event)).length
  const submissions = await deleteSubmissionRows(connection, actor, ids)
  return { submissions, files: files.length, deliveries: deliveries.length - replies, replies }
}

/**
 * The time of the last reply to the address. The opt-out stays, as a keyed hash, because an erased person must get no
 * later email.
 */
async function eraseReplyRecords(
  { hashAddress }: PersonErasureNeeds,
  connection: Connection,
  workspaceId: number,
  email: string,
): Promise<void> {
  const address = hashAddress(workspaceId, email)
  const forms = connection.selectFrom('forms').select('id').where('workspace_id', '=', workspaceId)
  await connection
    .deleteFrom('replies')
    .where('workspace_id', '=', workspaceId)
    .where('form_id', 'in', forms)
    .where('address', '=', address)
    .execute()
}
