// Plans the waiting deliveries of a channel anew, once its digest or its quiet hours have changed.

import type { Database } from '../../../storage/database/open-database.ts'
import { type DeliveryTiming, planDelivery } from '../timing/plan-delivery.ts'
import { SUBMISSION_CREATED } from './enqueue-deliveries.ts'

/** Deliveries in one transaction: a write of SQLite blocks all other writes. */
const BATCH_SIZE = 200

interface ReplannedChannel {
  workspaceId: number
  channelId: number
  timing: DeliveryTiming
}

/** Deliveries that were not yet attempted are due as if they were enqueued now. */
export async function replanDeliveries(
  db: Database,
  { workspaceId, channelId, timing }: ReplannedChannel,
  now: number,
): Promise<void> {
  const due = planDelivery(timing, now)
  for (let changed = BATCH_SIZE; changed === BATCH_SIZE; )
    changed = await db.write(async (connection) => {
      const waiting = connection
        .selectFrom('deliveries')
        .select('id')
        .where('workspace_id', '=', workspaceId)
        .where('channel_id', '=', channelId)
        .where('status', '=', 'waiting')
        .where('event', '=', SUBMISSION_CREATED)
        .where('attempts', '=', 0)
        .where('digest_id', 'is', null)
        .where('due_at', '<>', due)
        .limit(BATCH_SIZE)
      const { numUpdatedRows } = await connection
        .updateTable('deliveries')
        .set({ due_at: due })
        .where('workspace_id', '=', workspaceId)
        .where('id', 'in', waiting)
        .executeTakeFirstOrThrow()
      return Number(numUpdatedRows)
    })
}
