// A delivery as a row and as the resource of the API.

import { type InferResult, sql } from 'kysely'
import { toIso, toIsoOrNull } from '../../../lib/iso-time.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { type Actor, hasScopes } from '../../accounts/access/actor.ts'
import { NAME_FIELD } from '../channels/sender-name.ts'
import { isReplyEvent } from '../outbox/enqueue-reply.ts'
import type { DeliveryResource } from '../schema.ts'

/** The sender of a longer submission is its email address only, so that a page of deliveries stays small. */
const NAMED_LENGTH_MAX = 4096

const DELIVERY_COLUMNS = [
  'deliveries.id',
  'deliveries.channel_id',
  'deliveries.submission_id',
  'forms.form_key',
  'forms.name as form_name',
  'submissions.email',
  sql<
    string | null
  >`case when submissions.email is null and length(submissions.fields) <= ${sql.lit(NAMED_LENGTH_MAX)}
    then submissions.fields end`.as('named_fields'),
  'deliveries.event',
  'deliveries.message_id',
  'deliveries.status',
  'deliveries.attempts',
  'deliveries.interrupted',
  'deliveries.attempts_before',
  'deliveries.interrupted_before',
  sql<string | null>`coalesce(deliveries.last_error, digests.last_error)`.as('last_error'),
  sql<number | null>`coalesce(deliveries.due_at, digests.due_at)`.as('due_at'),
  'digests.id as digest_id',
  'deliveries.created_at',
  'deliveries.finished_at',
] as const

/** The workspace's deliveries, joined with the form of the submission, if they have one. */
export const selectDeliveries = (connection: Connection, actor: Actor) =>
  connection
    .selectFrom('deliveries')
    .leftJoin('submissions', 'submissions.id', 'deliveries.submission_id')
    .leftJoin('forms', 'forms.id', 'submissions.form_id')
    // A delivery that waits for a digest is due when the digest is.
    .leftJoin('deliveries as digests', (join) =>
      join
        .onRef('digests.id', '=', 'deliveries.digest_id')
        .onRef('digests.workspace_id', '=', 'deliveries.workspace_id')
        .on('deliveries.sent_alone', '=', 0),
    )
    .where('deliveries.workspace_id', '=', actor.workspaceId)
    .select(DELIVERY_COLUMNS)

export type DeliveryRow = InferResult<ReturnType<typeof selectDeliveries>>[number]

/** Deliveries contain data of submissions, so a key needs the scope of both. */
export const maySeeSubmissions = (actor: Actor) => hasScopes(actor, 'submissions:read')

/** A mail server's answer to a reply can contain the sender's address, so it needs the scope of submissions too. */
export const maySeeAnswers = (actor: Actor, event: string) => !isReplyEvent(event) || maySeeSubmissions(actor)

function findSender({ email, named_fields: fields }: DeliveryRow): string | null {
  if (email !== null || fields === null) return email
  const named = (JSON.parse(fields) as [string, string][]).find(([field]) => NAME_FIELD.test(field))
  return named?.[1].trim().slice(0, 200) || null
}

export function toDeliveryResource(actor: Actor, row: DeliveryRow): DeliveryResource {
  return {
    id: row.id,
    channelId: isReplyEvent(row.event) ? null : row.channel_id,
    submissionId: row.submission_id,
    formKey: row.form_key,
    formName: row.form_name,
    sender: maySeeSubmissions(actor) ? findSender(row) : null,
    digestId: row.digest_id,
    event: row.event as DeliveryResource['event'],
    messageId: row.message_id,
    status: row.status as DeliveryResource['status'],
    attemptCount: row.attempts_before - row.interrupted_before + row.attempts - row.interrupted,
    interruptedCount: row.interrupted_before + row.interrupted,
    lastError: maySeeAnswers(actor, row.event) ? row.last_error : null,
    nextAttemptAt: row.status === 'waiting' ? toIsoOrNull(row.due_at) : null,
    createdAt: toIso(row.created_at),
    finishedAt: toIsoOrNull(row.finished_at),
  }
}
