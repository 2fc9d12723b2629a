// The test button: one attempt that runs while the person waits, and is recorded when it has ended.

import type { ExpressionBuilder } from 'kysely'
import type { Tables } from '../../../storage/database/tables.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { CHANNELS_WRITE, getChannel } from '../channels/channel.ts'
import type { DeliveryResult, WakeDeliverer } from '../channels/contract.ts'
import { newMessageId } from '../outbox/enqueue-deliveries.ts'
import type { DeliveryDetail } from '../schema.ts'
import { type AttemptNeeds, attemptDelivery } from './attempt-delivery.ts'
import { describeFailure } from './describe-failure.ts'
import { getDelivery } from './get-delivery.ts'
import { insertAttempts } from './record-attempts.ts'

/** A person waits, and the server closes their connection after 30 silent seconds. */
const TIMEOUT_MS = 20_000

/**
 * Also tests a disabled channel: the test shows whether it works again.
 * @throws Failure `not_found`
 */
export async function testChannel(
  needs: AttemptNeeds & { now: () => number; wake: WakeDeliverer },
  actor: Actor,
  id: number,
): Promise<DeliveryDetail> {
  allow(actor, CHANNELS_WRITE)
  const { db, now, wake } = needs
  const channel = await getChannel(db.read, actor, id)
  const { workspaceId } = actor
  const [at, messageId] = [now(), newMessageId()]
  const attempted = await attemptDelivery(
    { ...needs, send: { ...needs.send, timeoutMs: TIMEOUT_MS } },
    { id: 0, workspaceId, submissionId: null, event: 'test', messageId, channel },
    at,
  )
  if (!attempted) throw new Error('a test notification has no content')
  const { result } = attempted
  return db.write(async (connection, onCommit) => {
    // The channel may have been deleted in the meantime.
    await getChannel(connection, actor, id)
    const delivered = result.outcome === 'delivered'
    const delivery = await connection
      .insertInto('deliveries')
      .values({
        workspace_id: workspaceId,
        channel_id: id,
        submission_id: null,
        event: 'test',
        message_id: messageId,
        status: delivered ? 'delivered' : 'failed',
        attempts: 1,
        last_error: delivered ? null : describeFailure(result),
        created_at: at,
        finished_at: now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await insertAttempts(connection, [
      { id: delivery.id, workspaceId, attemptsBefore: 0, attempts: 1, ...attempted, at },
    ])
    const changes = toChannelChanges(result, now())
    if (changes) {
      await connection
        .updateTable('channels')
        .set(changes)
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .execute()
    }
    if (delivered) onCommit(() => wake(id))
    return getDelivery(connection, actor, delivery.id)
  })
}

/**
 * A test tells what the channel does now. It never counts towards switching the channel off, and a test that was not
 * sent tells nothing.
 */
function toChannelChanges(result: DeliveryResult, now: number) {
  if (result.outcome === 'delivered')
    return { last_delivery_at: now, failing_since: null, own_failures_since: null, last_error: null }
  if (result.postponed) return undefined
  return (e: ExpressionBuilder<Tables, 'channels'>) => ({
    failing_since: e.fn.coalesce('failing_since', e.val(now)),
    last_error: describeFailure(result),
  })
}
