// The test button: one attempt that runs while the person waits, and is recorded when it has ended.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { CHANNELS_WRITE, getChannel } from '../channels/channel.ts'
import type { WakeDeliverer } from '../channels/contract.ts'
import type { DeliveryDetail } from '../schema.ts'
import { type AttemptNeeds, attemptDelivery } from './attempt-delivery.ts'
import { newMessageId } from './enqueue-deliveries.ts'
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
  const [at, startedAt, messageId] = [now(), performance.now(), newMessageId()]
  const result = await attemptDelivery(
    { ...needs, send: { ...needs.send, timeoutMs: TIMEOUT_MS } },
    { workspaceId, submissionId: null, event: 'test', messageId, channel },
    at,
  )
  if (!result) throw new Error('a test notification has no content')
  const tookMs = performance.now() - startedAt
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
        created_at: at,
        finished_at: now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await insertAttempts(connection, [{ id: delivery.id, workspaceId, attempts: 1, result, at, tookMs }])
    if (delivered) {
      await connection
        .updateTable('channels')
        .set({ last_delivery_at: now(), failing_since: null })
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .execute()
      onCommit(() => wake(id))
    }
    return getDelivery(connection, actor, delivery.id)
  })
}
