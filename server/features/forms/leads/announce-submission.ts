// Announces a submission to the channels of its form and makes it a lead: when it is stored, or when it is released
// from spam or confirmed.

import type { Connection, Database, OnCommit } from '../../../storage/database/open-database.ts'
import { type CreditNeeds, creditLastTouch } from '../../attribution/record-touches.ts'
import { enqueueDeliveries } from '../../notify/outbox/enqueue-deliveries.ts'
import { ANNOUNCED } from './announced.ts'

export interface AnnouncedSubmission {
  id: number
  workspaceId: number
  channelIds: number[]
  at: number
}

export interface AnnounceNeeds extends CreditNeeds {
  db: Database
  /** Tells the deliverer that a delivery waits. */
  wakeDeliverer: () => void
}

/** Stores the deliveries of a submission, in the transaction that stores the submission. */
export async function tellChannels(
  connection: Connection,
  onCommit: OnCommit,
  { db, wakeDeliverer }: Pick<AnnounceNeeds, 'db' | 'wakeDeliverer'>,
  { id, workspaceId, channelIds, at }: AnnouncedSubmission,
): Promise<void> {
  const notification = { workspaceId, submissionId: id, channelIds, at }
  const queued = await enqueueDeliveries(connection, db.engine, notification)
  if (queued > 0) onCommit(wakeDeliverer)
}

/**
 * Announces submissions that were held back: each once, however often it is called. A duplicate is not announced.
 * The caller has changed their status in the same transaction.
 */
export async function announceHeldSubmissions(
  connection: Connection,
  onCommit: OnCommit,
  needs: AnnounceNeeds,
  { workspaceId, ids, at }: { workspaceId: number; ids: number[]; at: number },
): Promise<void> {
  if (ids.length === 0) return
  const held = await connection
    .updateTable('submissions')
    .set({ announced: ANNOUNCED.yes, announced_at: at })
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .where('announced', '=', ANNOUNCED.no)
    .where('duplicate_of', 'is', null)
    .returning(['id', 'form_id'])
    .execute()
  for (const { id, form_id } of held.toSorted((a, b) => a.id - b.id)) {
    const { channel_ids } = await connection
      .selectFrom('forms')
      .select('channel_ids')
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', form_id)
      .executeTakeFirstOrThrow()
    const channelIds = JSON.parse(channel_ids)
    await tellChannels(connection, onCommit, needs, { id, workspaceId, channelIds, at })
    await creditLastTouch(connection, onCommit, needs, { id, workspaceId })
  }
}
