// Restarts deliveries under the same message id, so that a receiver can recognize a message that it has already.

import type { ExpressionBuilder } from 'kysely'
import { Failure } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { CHANNELS_WRITE } from '../channels/channel.ts'
import type { WakeDeliverer } from '../channels/contract.ts'
import { SUBMISSION_CREATED, SUBMISSION_DIGEST } from '../outbox/enqueue-deliveries.ts'
import { isReplyEvent } from '../outbox/enqueue-reply.ts'
import type { DeliveryDetail, RetryFailedInput } from '../schema.ts'
import { getDelivery } from './get-delivery.ts'

export interface RetryNeeds {
  db: Database
  now: () => number
  wake: WakeDeliverer
}

/** The schedule begins again, but the reported attempts go on. */
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
 * A delivered delivery is delivered again, and a waiting one is due now. One that a digest has sent, or was to send, is sent
 * alone; a digest is sent again as a whole.
 * @throws Failure `not_found`, `conflict` for a reply that was delivered
 */
export async function retryDelivery(
  { db, now, wake }: RetryNeeds,
  actor: Actor,
  id: number,
): Promise<DeliveryDetail> {
  allow(actor, CHANNELS_WRITE)
  const delivery = await db.write(async (connection, onCommit) => {
    const { channelId, digestId, event, status } = await getDelivery(connection, actor, id)
    // The sender gets no second mail because somebody else wants it.
    if (isReplyEvent(event) && status === 'delivered')
      throw new Failure('conflict', 'A reply that was delivered is not sent again')
    const at = now()
    await connection
      .updateTable('deliveries')
      .set(toRestarted(at))
      .set({ sent_alone: Number(event === SUBMISSION_CREATED) })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      // Not while an attempt runs: two attempts would run at once.
      .where((e) => e.or([e('leased_until', 'is', null), e('leased_until', '<=', at)]))
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('deliveries as running')
              .select('running.id')
              .where('running.workspace_id', '=', actor.workspaceId)
              .where('running.id', '=', digestId)
              .where('running.leased_until', '>', at),
          ),
        ),
      )
      .execute()
    onCommit(() => wake(channelId ?? undefined))
    return getDelivery(connection, actor, id)
  })
  if (delivery.event === SUBMISSION_DIGEST) await restartDigest(db, actor, id)
  return delivery
}

/** Its deliveries wait again for its end. */
async function restartDigest(db: Database, { workspaceId }: Actor, digestId: number): Promise<void> {
  for (let changed = BATCH_SIZE; changed === BATCH_SIZE; )
    changed = await db.write(async (connection) => {
      const ended = connection
        .selectFrom('deliveries')
        .select('id')
        .where('workspace_id', '=', workspaceId)
        .where('digest_id', '=', digestId)
        .where('sent_alone', '=', 0)
        .where('status', '<>', 'waiting')
        .limit(BATCH_SIZE)
      const { numUpdatedRows } = await connection
        .updateTable('deliveries')
        .set({ status: 'waiting', finished_at: null, last_error: null })
        .where('workspace_id', '=', workspaceId)
        .where('id', 'in', ended)
        .executeTakeFirstOrThrow()
      return Number(numUpdatedRows)
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
    const failed = await db.write(async (connection, onCommit) => {
      const failed = await listFailed(connection, actor, filter)
      if (failed.length === 0) return failed
      const ids = failed.map(({ id }) => id)
      await connection
        .updateTable('deliveries')
        .set(toRestarted(now()))
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', 'in', ids)
        .where('status', '=', 'failed')
        .execute()
      onCommit(() => wake(channelId))
      return failed
    })
    for (const { id, event } of failed) if (event === SUBMISSION_DIGEST) await restartDigest(db, actor, id)
    retried += failed.length
    after = failed.at(-1)?.id ?? after
    if (failed.length < BATCH_SIZE) return { retried }
  }
}

async function listFailed(
  connection: Connection,
  actor: Actor,
  { since, channelId, after }: { since: number; channelId?: number; after: number },
): Promise<{ id: number; event: string }[]> {
  let failed = connection
    .selectFrom('deliveries')
    .select(['id', 'event'])
    .where('workspace_id', '=', actor.workspaceId)
    .where('status', '=', 'failed')
    .where('created_at', '>=', since)
    // A person waits for a test while it runs; hours later it would only confuse.
    .where('event', '<>', 'test')
    // A digest has those that it sent begin again with it.
    .where((e) => e.or([e('digest_id', 'is', null), e('sent_alone', '=', 1)]))
    .where('id', '>', after)
  if (channelId !== undefined) failed = failed.where('channel_id', '=', channelId)
  return failed.orderBy('id').limit(BATCH_SIZE).execute()
}
