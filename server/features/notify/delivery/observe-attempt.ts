// Observes an attempt: a log line and a span, which lead to the request that has caused the delivery.

import { log } from '../../../lib/log.ts'
import { createRequestContext, runForRequest } from '../../../lib/telemetry/request-context.ts'
import { getTracer } from '../../../lib/telemetry/tracing.ts'
import type { AttemptResult } from './attempt-delivery.ts'
import type { Claim } from './claim-deliveries.ts'

const ROUTE = 'delivery'

/** Every log line of the attempt has the id of the request. */
export async function observeAttempt(
  claim: Claim,
  attempt: () => Promise<AttemptResult | undefined>,
): Promise<AttemptResult | undefined> {
  const { id, workspaceId, channel, requestId, traceparent } = claim
  const startedAt = performance.now()
  const span = getTracer()?.start({
    name: `deliver ${channel.type}`,
    kind: 'client',
    link: traceparent ?? undefined,
    attributes: { 'towpath.channel.type': channel.type, 'towpath.delivery.attempt': claim.attempts },
  })
  const work = async () => {
    const attempted = await attempt()
    const { outcome = 'obsolete', httpStatus = null } = attempted?.result ?? {}
    log.info('delivery_attempt', {
      delivery: id,
      workspaceId,
      channel: channel.id,
      type: channel.type,
      attempt: claim.attempts,
      outcome,
      status: httpStatus ?? undefined,
      ms: Math.round(performance.now() - startedAt),
    })
    span?.end({
      failed: outcome !== 'delivered' && outcome !== 'obsolete',
      attributes: {
        'towpath.delivery.outcome': outcome,
        ...(httpStatus !== null && { 'http.response.status_code': httpStatus }),
      },
    })
    return attempted
  }
  // Without a request, such as for a notice to owners, the lines have no id.
  return requestId === null ? work() : runForRequest(createRequestContext(requestId, ROUTE, span), work)
}
