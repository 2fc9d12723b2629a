// One delivery of a workspace, with its attempts.

import { notFound } from '../../lib/failure.ts'
import { iso } from '../../lib/wire.ts'
import type { Db } from '../../storage/rows/open.ts'
import type { Actor } from '../accounts/actor.ts'
import { DELIVERY_COLUMNS, deliveriesOf, deliveryResource } from './delivery.ts'
import type { DeliveryDetail } from './schema.ts'

/** More come of retrying by hand only. */
const ATTEMPTS_SHOWN = 100

/** @throws Failure `not_found`, the same for another workspace's delivery as for none. */
export async function findDelivery(db: Db, actor: Actor, id: number): Promise<DeliveryDetail> {
  const row = await deliveriesOf(db, actor)
    .select(DELIVERY_COLUMNS)
    .where('deliveries.id', '=', id)
    .executeTakeFirst()
  if (!row) throw notFound('Delivery')
  const attempts = await db
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('delivery_id', '=', id)
    .orderBy('id', 'desc')
    .limit(ATTEMPTS_SHOWN)
    .execute()
  return {
    ...deliveryResource(row),
    attempts: attempts.map((one) => ({
      attempt: one.attempt,
      outcome: one.outcome as DeliveryDetail['attempts'][number]['outcome'],
      httpStatus: one.http_status,
      answer: one.answer,
      tookMs: one.took_ms,
      at: iso(one.at),
    })),
  }
}
