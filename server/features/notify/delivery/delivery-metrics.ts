// The metrics of deliveries: how many wait, and how attempts end.

import { sql } from 'kysely'
import type { Metric } from '../../../http/health-and-metrics.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { DeliveryResult } from '../channels/contract.ts'
import { CHANNEL_TYPES, DELIVERY_OUTCOMES } from '../schema.ts'

/** Counting stops here, because the count repeats every 10 seconds. */
const COUNTED_MAX = 100_000

/** Of all processes that share the database. */
interface QueueState {
  waiting: number
  /** Those whose next attempt should have begun. */
  due: number
  /** When the oldest was created, and since when the oldest is due: milliseconds since the epoch. */
  oldest: number | null
  oldestDue: number | null
}

export function createDeliveryMetrics() {
  // An interrupted attempt has no result that this process could count.
  const outcomes = DELIVERY_OUTCOMES.filter((outcome) => outcome !== 'interrupted')
  const attempts = CHANNEL_TYPES.flatMap((channel) =>
    outcomes.map((outcome) => ({ channel, outcome, count: 0 })),
  )
  const queue: QueueState = { waiting: 0, due: 0, oldest: null, oldestDue: null }
  return {
    countAttempt(channel: string, outcome: DeliveryResult['outcome']) {
      const counter = attempts.find((each) => each.channel === channel && each.outcome === outcome)
      if (counter) counter.count++
    },
    /** Reads how many deliveries wait. Deliveries of disabled channels do not count. */
    async measureQueue(db: Database, now: number) {
      const { rows } = await sql<Record<keyof QueueState, number | null>>`
        select count(*) as waiting, min(created_at) as oldest,
          sum(case when due_at <= ${now} then 1 else 0 end) as due,
          min(case when due_at <= ${now} then due_at end) as "oldestDue"
        from (
          select d.created_at, d.due_at from deliveries d join channels c on c.id = d.channel_id
          where d.status = 'waiting' and c.enabled = 1 limit ${COUNTED_MAX}
        ) as counted`.execute(db.read)
      const row = rows[0]
      queue.waiting = Number(row?.waiting ?? 0)
      queue.due = Number(row?.due ?? 0)
      queue.oldest = row?.oldest ?? null
      queue.oldestDue = row?.oldestDue ?? null
    },
    metrics: (now: number): Metric[] => [
      {
        name: 'towpath_deliveries_waiting',
        kind: 'gauge',
        help: 'Notifications on their way, those that wait for another attempt among them',
        value: queue.waiting,
      },
      {
        name: 'towpath_deliveries_oldest_waiting_seconds',
        kind: 'gauge',
        help: 'Age of the oldest of them',
        value: toAgeSeconds(queue.oldest, now),
      },
      {
        name: 'towpath_deliveries_due',
        kind: 'gauge',
        help: 'Notifications whose next attempt should have begun',
        value: queue.due,
      },
      {
        name: 'towpath_deliveries_oldest_due_seconds',
        kind: 'gauge',
        help: 'For how long the oldest of them has been due',
        value: toAgeSeconds(queue.oldestDue, now),
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
