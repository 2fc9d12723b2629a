// The metrics of deliveries: how many wait, and how attempts end.

import { sql } from 'kysely'
import type { Metric } from '../../../http/health-and-metrics.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { DeliveryResult } from '../channels/contract.ts'
import { CHANNEL_TYPES, DELIVERY_OUTCOMES } from '../schema.ts'

/** Counting stops here, because the count repeats every 10 seconds. */
const COUNTED_MAX = 100_000

export function createDeliveryMetrics() {
  // An interrupted attempt has no result that this process could count.
  const outcomes = DELIVERY_OUTCOMES.filter((outcome) => outcome !== 'interrupted')
  const attempts = new Map<string, number>(
    CHANNEL_TYPES.flatMap((type) => outcomes.map((outcome) => [`${type}_${outcome}`, 0] as const)),
  )
  let waiting = 0
  let oldest: number | null = null
  return {
    countAttempt(type: string, outcome: DeliveryResult['outcome']) {
      const name = `${type}_${outcome}`
      attempts.set(name, (attempts.get(name) ?? 0) + 1)
    },
    /** Reads how many deliveries wait. Deliveries of disabled channels do not count. */
    async measureQueue(db: Database) {
      const { rows } = await sql<{ waiting: number; oldest: number | null }>`
        select count(*) as waiting, min(created_at) as oldest from (
          select d.created_at from deliveries d join channels c on c.id = d.channel_id
          where d.status = 'waiting' and c.enabled = 1 limit ${COUNTED_MAX}
        ) as counted`.execute(db.read)
      waiting = Number(rows[0]?.waiting ?? 0)
      oldest = rows[0]?.oldest ?? null
    },
    metrics: (now: number): Metric[] => [
      {
        name: 'towpath_deliveries_waiting',
        kind: 'gauge',
        help: 'Notifications on their way, those that wait for another attempt among them',
        value: waiting,
      },
      {
        name: 'towpath_deliveries_oldest_waiting_seconds',
        kind: 'gauge',
        help: 'Age of the oldest of them',
        value: oldest === null ? 0 : Math.max(0, Math.round((now - oldest) / 1000)),
      },
      ...[...attempts].map(
        ([name, value]): Metric => ({
          name: `towpath_delivery_attempts_${name}_total`,
          kind: 'counter',
          help: `Attempts to notify by ${name.split('_')[0]} that ended so`,
          value,
        }),
      ),
    ],
  }
}
