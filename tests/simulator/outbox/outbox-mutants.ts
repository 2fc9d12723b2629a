// Faults of the outbox, put in by hand: one line of the product changed each. The simulator must find all of them.

import { toMutants } from '../../support/rollups/mutate-source.ts'

const DELIVERY = 'server/features/notify/delivery'
const KEPT_LEASE = `sql<number>${'`'}coalesce(leased_until, ${'$'}{until})${'`'}`

export const OUTBOX_MUTANTS = [
  ...toMutants(`${DELIVERY}/claim-deliveries.ts`, [
    [
      'the lease of a delivery that is taken over is not renewed',
      'leased_until: until,',
      `leased_until: ${KEPT_LEASE},`,
    ],
    ['a claim has no lease', 'until: now + leaseMs', 'until: now'],
    ['an attempt is not counted', "attempts: e('attempts', '+', 1)", "attempts: e('attempts', '+', 0)"],
    ['the newest delivery is first', 'order by due_at, id limit', 'order by due_at desc, id desc limit'],
    ['interrupted attempts count as attempts', 'attempts - interrupted >= ATTEMPTS_MAX', 'attempts >= 2'],
    ['each node has all slots of a channel', 'limit: toFreeSlots(turn, now)', 'limit: turn.limit'],
  ]),
  ...toMutants(`${DELIVERY}/attempt-delivery.ts`, [
    ['an attempt outlasts its lease', 'const TIMEOUT_MS = 45_000', 'const TIMEOUT_MS = 450_000'],
  ]),
  ...toMutants(`${DELIVERY}/record-attempts.ts`, [
    [
      'what has arrived is not noted',
      'if (delivered.length > 0) await recordDelivered(connection, delivered)',
      '',
    ],
    ['a failed attempt keeps its lease', '.set({ leased_until: null, ...toUpdate', '.set({ ...toUpdate'],
  ]),
  ...toMutants(`${DELIVERY}/retry-schedule.ts`, [
    ['the schedule is one step behind', 'RETRY_DELAYS[attempts]', 'RETRY_DELAYS[attempts - 1]'],
  ]),
  ...toMutants(`${DELIVERY}/channel-concurrency.ts`, [
    [
      'a chat service gets three at a time',
      'export const BASE_CONCURRENCY = 2',
      'export const BASE_CONCURRENCY = 3',
    ],
  ]),
  ...toMutants('server/features/notify/outbox/enqueue-deliveries.ts', [
    [
      'a channel is left out',
      'channels.map((channel) => ({\n      ...event',
      'channels.slice(0, 2).map((channel) => ({\n      ...event',
    ],
  ]),
  ...toMutants(`${DELIVERY}/prune-attempts.ts`, [['attempts stay', 'sql`at < $', 'sql`at < -$']]),
]
