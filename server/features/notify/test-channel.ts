// The test button: one attempt, made while whoever pressed it waits, and written down when it has ended.

import { type Actor, allow } from '../accounts/actor.ts'
import { type AttemptNeeds, attempt } from './attempt.ts'
import { CHANNELS_WRITE, findChannel } from './channel.ts'
import type { Wake } from './deliver.ts'
import { newMessageId } from './enqueue.ts'
import { findDelivery } from './find-delivery.ts'
import { noteAttempts } from './record.ts'
import type { DeliveryDetail } from './schema.ts'

/** Somebody waits, and their connection may be silent for 30 seconds. */
const TEST_MS = 20_000

/** Also of a channel that is switched off, since that is how one finds out. @throws Failure `not_found` */
export async function testChannel(
  needs: AttemptNeeds & { now: () => number; wake: Wake },
  actor: Actor,
  id: number,
): Promise<DeliveryDetail> {
  allow(actor, CHANNELS_WRITE)
  const { rows, now, wake } = needs
  const channel = await findChannel(rows.read, actor, id)
  const { workspaceId } = actor
  const [at, began, messageId] = [now(), performance.now(), newMessageId()]
  const result = await attempt(
    { ...needs, send: { ...needs.send, timeoutMs: TEST_MS } },
    { workspaceId, submissionId: null, event: 'test', messageId, channel },
    at,
  )
  if (!result) throw new Error('a test had nothing to say')
  const tookMs = performance.now() - began
  return rows.write(async (db, onCommit) => {
    // It may have been deleted meanwhile.
    await findChannel(db, actor, id)
    const delivered = result.outcome === 'delivered'
    const delivery = await db
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
    await noteAttempts(db, [{ id: delivery.id, workspaceId, attempts: 1, result, at, tookMs }])
    if (delivered) {
      await db
        .updateTable('channels')
        .set({ last_delivery_at: now(), failing_since: null })
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .execute()
      onCommit(() => wake(id))
    }
    return findDelivery(db, actor, delivery.id)
  })
}
