// The test button: one attempt, made while whoever pressed it waits, and written down when it has ended.

import { type Actor, allow } from '../../accounts/access/actor.ts'
import { CHANNELS_WRITE, getChannel } from '../channels/channel.ts'
import type { DeliveryDetail } from '../schema.ts'
import { type AttemptNeeds, attemptDelivery } from './attempt-delivery.ts'
import type { WakeDeliverer } from './deliverer.ts'
import { newMessageId } from './enqueue-deliveries.ts'
import { getDelivery } from './get-delivery.ts'
import { insertAttempts } from './record-attempts.ts'

/** Somebody waits, and their connection may be silent for 30 seconds. */
const TEST_MS = 20_000

/** Also of a channel that is switched off, since that is how one finds out. @throws Failure `not_found` */
export async function testChannel(
  needs: AttemptNeeds & { now: () => number; wake: WakeDeliverer },
  actor: Actor,
  id: number,
): Promise<DeliveryDetail> {
  allow(actor, CHANNELS_WRITE)
  const { db, now, wake } = needs
  const channel = await getChannel(db.read, actor, id)
  const { workspaceId } = actor
  const [at, began, messageId] = [now(), performance.now(), newMessageId()]
  const result = await attemptDelivery(
    { ...needs, send: { ...needs.send, timeoutMs: TEST_MS } },
    { workspaceId, submissionId: null, event: 'test', messageId, channel },
    at,
  )
  if (!result) throw new Error('a test had nothing to say')
  const tookMs = performance.now() - began
  return db.write(async (connection, onCommit) => {
    // It may have been deleted meanwhile.
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
