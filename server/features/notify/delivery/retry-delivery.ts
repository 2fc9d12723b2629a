// Begins deliveries anew, under the same message id: the receiver can tell that it has seen one.

import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { CHANNELS_WRITE } from '../channels/channel.ts'
import type { DeliveryDetail, RetryFailedInput } from '../schema.ts'
import type { WakeDeliverer } from './deliverer.ts'
import { getDelivery } from './get-delivery.ts'

export interface RetryNeeds {
  db: Database
  now: () => number
  wake: WakeDeliverer
}

const toRestarted = (now: number) => ({
  status: 'waiting',
  attempts: 0,
  interrupted: 0,
  due_at: now,
  leased_until: null,
  finished_at: null,
})

/** One that was delivered is delivered again; one that waits is due now. @throws Failure `not_found` */
export function retryDelivery(
  { db, now, wake }: RetryNeeds,
  actor: Actor,
  id: number,
): Promise<DeliveryDetail> {
  allow(actor, CHANNELS_WRITE)
  return db.write(async (connection, onCommit) => {
    const { channelId } = await getDelivery(connection, actor, id)
    const at = now()
    await connection
      .updateTable('deliveries')
      .set(toRestarted(at))
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      // Not while it is being made: it would be made twice at once.
      .where((e) => e.or([e('leased_until', 'is', null), e('leased_until', '<=', at)]))
      .execute()
    onCommit(() => wake(channelId))
    return getDelivery(connection, actor, id)
  })
}

/** A write of SQLite holds up all others. */
const AT_ONCE = 500

/** Those that have failed for good, of the deliveries made since then. @returns how many */
export async function retryFailed(
  { db, now, wake }: RetryNeeds,
  actor: Actor,
  { since, channelId }: RetryFailedInput,
): Promise<{ retried: number }> {
  allow(actor, CHANNELS_WRITE)
  const from = Date.parse(since)
  let retried = 0
  // By id, since what fails again at once would be found again.
  for (let after = 0; ; ) {
    const ids = await db.write(async (connection, onCommit) => {
      let failed = connection
        .selectFrom('deliveries')
        .select('id')
        .where('workspace_id', '=', actor.workspaceId)
        .where('status', '=', 'failed')
        .where('created_at', '>=', from)
        // A test is made while somebody waits for it; hours later it would only puzzle.
        .where('event', '<>', 'test')
        .where('id', '>', after)
      if (channelId !== undefined) failed = failed.where('channel_id', '=', channelId)
      const found = (await failed.orderBy('id').limit(AT_ONCE).execute()).map(({ id }) => id)
      if (found.length === 0) return found
      await connection
        .updateTable('deliveries')
        .set(toRestarted(now()))
        .where('workspace_id', '=', actor.workspaceId)
        .where('id', 'in', found)
        .where('status', '=', 'failed')
        .execute()
      onCommit(() => wake(channelId))
      return found
    })
    retried += ids.length
    after = ids.at(-1) ?? after
    if (ids.length < AT_ONCE) return { retried }
  }
}
