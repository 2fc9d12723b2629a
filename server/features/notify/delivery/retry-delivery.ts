// Restarts deliveries under the same message id, so that a receiver can recognize a message that it has already.

import type { ExpressionBuilder } from 'kysely'
import { Failure } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { CHANNELS_WRITE } from '../channels/channel.ts'
import type { WakeDeliverer } from '../channels/contract.ts'
import { isReplyEvent } from '../outbox/enqueue-reply.ts'
import type { DeliveryDetail, RetryFailedInput } from '../schema.ts'
import { getDelivery } from './get-delivery.ts'

export interface RetryNeeds {
  db: Database
  now: () => number
  wake: WakeDeliverer
}

/** The schedule begins again, and what people are told of the attempts before does not. */
const toRestarted = (now: number) => (e: ExpressionBuilder<Tables, 'deliveries'>) => ({
  status: 'waiting',
  attempts_before: e('attempts_before', '+', e.ref('attempts')),
  interrupted_before: e('interrupted_before', '+', e.ref('interrupted')),
  attempts: 0,
  interrupted: 0,
  due_at: now,
  leased_until: null,
  finished_at: null,
})

/**
 * A delivered delivery is delivered again, and a waiting one is due now.
 * @throws Failure `not_found`, `conflict` for a reply that was delivered
 */
export function retryDelivery(
  { db, now, wake }: RetryNeeds,
  actor: Actor,
  id: number,
): Promise<DeliveryDetail> {
  allow(actor, CHANNELS_WRITE)
  return db.write(async (connection, onCommit) => {
    const { channelId, event, status } = await getDelivery(connection, actor, id)
    // The sender gets no second mail because somebody else wants it.
    if (isReplyEvent(event) && status === 'delivered')
      throw new Failure('conflict', 'A reply that was delivered is not sent again')
    const at = now()
    await connection
      .updateTable('deliveries')
      .set(toRestarted(at))
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      // Not while an attempt runs: two attempts would run at once.
      .where((e) => e.or([e('leased_until', 'is', null), e('leased_until', '<=', at)]))
      .execute()
    onCommit(() => wake(channelId ?? undefined))
    return getDelivery(connection, actor, id)
  })
}

/** Deliveries in one transaction: a write of SQLite blocks all other writes. */
const BATCH_SIZE = 500

/** Restarts the deliveries that were created since `since` and have failed. @returns how many */
export async function retryFailed(
  { db, now, wake }: RetryNeeds,
  actor: Actor,
  { since, channelId }: RetryFailedInput,
): Promise<{ retried: number }> {
  allow(actor, CHANNELS_WRITE)
  let retried = 0
  // In the order of the ids: a delivery that fails again at once is not found a second time.
  for (let after = 0; ; ) {
    const filter = { since: Date.parse(since), channelId, after }
    const ids = await db.write(async (connection, onCommit) => {
      const failed = await listFailed(connection, actor, filter)
      if (failed.length === 0) return failed
      await connection
        .updateTable('deliveries')
        .set(toRestarted(now()))
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', 'in', failed)
        .where('status', '=', 'failed')
        .execute()
      onCommit(() => wake(channelId))
      return failed
    })
    retried += ids.length
    after = ids.at(-1) ?? after
    if (ids.length < BATCH_SIZE) return { retried }
  }
}

async function listFailed(
  connection: Connection,
  actor: Actor,
  { since, channelId, after }: { since: number; channelId?: number; after: number },
): Promise<number[]> {
  let failed = connection
    .selectFrom('deliveries')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('status', '=', 'failed')
    .where('created_at', '>=', since)
    // A person waits for a test while it runs; hours later it would only confuse.
    .where('event', '<>', 'test')
    .where('id', '>', after)
  if (channelId !== undefined) failed = failed.where('channel_id', '=', channelId)
  const rows = await failed.orderBy('id').limit(BATCH_SIZE).execute()
  return rows.map(({ id }) => id)
}
