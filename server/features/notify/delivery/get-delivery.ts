// Reads one delivery of a workspace, with its attempts.

import { notFound } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { type Actor, hasScopes } from '../../accounts/access/actor.ts'
import { parseStoredRequest } from '../channels/sent-request.ts'
import { EVENT_SCOPES, isWorkspaceEvent } from '../events/channel-events.ts'
import { SUBMISSION_CREATED, SUBMISSION_DIGEST } from '../outbox/enqueue-deliveries.ts'
import { isReplyEvent } from '../outbox/enqueue-reply.ts'
import type { DeliveryDetail } from '../schema.ts'
import { maySeeAnswers, maySeeSubmissions, selectDeliveries, toDeliveryResource } from './delivery.ts'

/** The schedule makes 10 attempts; only retries by hand make more than 100. */
const ATTEMPTS_SHOWN = 100

const isAboutChannel = (event: string) =>
  event !== SUBMISSION_CREATED && event !== SUBMISSION_DIGEST && !isReplyEvent(event)

/** @throws Failure `not_found`, also for a delivery of another workspace */
export async function getDelivery(connection: Connection, actor: Actor, id: number): Promise<DeliveryDetail> {
  const row = await selectDeliveries(connection, actor).where('deliveries.id', '=', id).executeTakeFirst()
  if (!row) throw notFound('Delivery')
  const attempts = await connection
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('delivery_id', '=', row.digest_id ?? id)
    .orderBy('id', 'desc')
    .limit(ATTEMPTS_SHOWN)
    .execute()
  const isShown = isWorkspaceEvent(row.event)
    ? hasScopes(actor, EVENT_SCOPES[row.event])
    : isAboutChannel(row.event) || maySeeSubmissions(actor)
  const stored = attempts.find(({ request }) => request !== null)?.request ?? null
  return {
    ...toDeliveryResource(actor, row),
    request: isShown ? parseStoredRequest(stored) : null,
    attempts: attempts.map(({ attempt, outcome, http_status, answer, took_ms, at }) => ({
      attempt,
      outcome: outcome as DeliveryDetail['attempts'][number]['outcome'],
      httpStatus: http_status,
      answer: maySeeAnswers(actor, row.event) ? answer : null,
      tookMs: took_ms,
      at: toIso(at),
    })),
  }
}
