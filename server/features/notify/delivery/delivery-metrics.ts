// The metrics of deliveries: the backlog, and the outcomes of attempts.

import type { Metric } from '../../../http/health-and-metrics.ts'
import { CHANNEL_TYPES, DELIVERY_OUTCOMES } from '../channels/channel-types.ts'
import type { DeliveryResult } from '../channels/contract.ts'
import { REPLY_CHANNEL } from '../outbox/enqueue-reply.ts'
import type { Backlog } from './backlog-watch.ts'

export function createDeliveryMetrics() {
  // An interrupted attempt has no result that this process could count.
  const outcomes = DELIVERY_OUTCOMES.filter((outcome) => outcome !== 'interrupted')
  const attempts = [...CHANNEL_TYPES, REPLY_CHANNEL].flatMap((channel) =>
    outcomes.map((outcome) => ({ channel, outcome, count: 0 })),
  )
  return {
    countAttempt(channel: string, outcome: DeliveryResult['outcome']) {
      const counter = attempts.find((each) => each.channel === channel && each.outcome === outcome)
      if (counter) counter.count++
    },
    /** @param backlog of all processes that share the database */
    metrics: (now: number, backlog: Backlog): Metric[] => [
      {
        name: 'towpath_deliveries_waiting',
        kind: 'gauge',
        help: 'Undelivered notifications, including those that wait for another attempt',
        value: backlog.waiting,
      },
      {
        name: 'towpath_deliveries_oldest_waiting_seconds',
        kind: 'gauge',
        help: 'Age of the oldest of them',
        value: toAgeSeconds(backlog.oldest, now),
      },
      {
        name: 'towpath_deliveries_due',
        kind: 'gauge',
        help: 'Notifications with an overdue attempt',
        value: backlog.due,
      },
      {
        name: 'towpath_deliveries_oldest_due_seconds',
        kind: 'gauge',
        help: 'For how long the oldest of them has been due',
        value: toAgeSeconds(backlog.oldestDue, now),
      },
      {
        name: 'towpath_deliveries_backlog_growing',
        kind: 'gauge',
        help: 'Whether more notifications come than the receiver of some channel takes',
        value: backlog.channelsBehind > 0 ? 1 : 0,
      },
      ...attempts.map(
        ({ channel, outcome, count }): Metric => ({
          name: 'towpath_delivery_attempts_total',
          kind: 'counter',
          help: 'Attempts to notify, by the type of channel and how they ended',
          labels: { channel, outcome },
          value: count,
        }),
      ),
    ],
  }
}

const toAgeSeconds = (since: number | null, now: number) =>
  since === null ? 0 : Math.max(0, Math.round((now - since) / 1000))
