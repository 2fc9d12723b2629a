// A delivery as a row and as the resource that callers see.

import { toIso, toIsoOrNull } from '../../../lib/api-fields.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { DeliveryResource } from '../schema.ts'

/** The workspace's deliveries, joined with the form of the submission where there is one. */
export const selectDeliveries = (connection: Connection, actor: Actor) =>
  connection
    .selectFrom('deliveries')
    .leftJoin('submissions', 'submissions.id', 'deliveries.submission_id')
    .leftJoin('forms', 'forms.id', 'submissions.form_id')
    .where('deliveries.workspace_id', '=', actor.workspaceId)

export const DELIVERY_COLUMNS = [
  'deliveries.id',
  'deliveries.channel_id',
  'deliveries.submission_id',
  'forms.form_key',
  'deliveries.event',
  'deliveries.message_id',
  'deliveries.status',
  'deliveries.attempts',
  'deliveries.due_at',
  'deliveries.created_at',
  'deliveries.finished_at',
] as const

export interface DeliveryRow {
  id: number
  channel_id: number
  submission_id: number | null
  form_key: string | null
  event: string
  message_id: string
  status: string
  attempts: number
  due_at: number | null
  created_at: number
  finished_at: number | null
}

export function toDeliveryResource(row: DeliveryRow): DeliveryResource {
  return {
    id: row.id,
    channelId: row.channel_id,
    submissionId: row.submission_id,
    formKey: row.form_key,
    event: row.event as DeliveryResource['event'],
    messageId: row.message_id,
    status: row.status as DeliveryResource['status'],
    attemptCount: row.attempts,
    nextAttemptAt: row.status === 'waiting' ? toIsoOrNull(row.due_at) : null,
    createdAt: toIso(row.created_at),
    finishedAt: toIsoOrNull(row.finished_at),
  }
}
