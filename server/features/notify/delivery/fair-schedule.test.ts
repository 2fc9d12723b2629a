// Several processes deliver on one PostgreSQL: together they send to a channel at most as much at once as one may.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  type NotificationHarness,
  openNotificationHarness,
} from '../../../../tests/support/notification-harness.ts'
import { until } from '../../../../tests/support/until.ts'
import { type DatabaseHandle, openDatabase } from '../../../storage/database/open-database.ts'
import type { ChannelSender } from '../channels/contract.ts'
import { claimDeliveries } from './claim-deliveries.ts'
import { type Deliverer, openDeliverer } from './deliverer.ts'
import { scheduleTurns } from './fair-schedule.ts'

const PROCESSES = 3
const SUBMISSIONS = 150

let outbox: NotificationHarness
const databases: DatabaseHandle[] = []
const deliverers: Deliverer[] = []
beforeAll(async () => {
  outbox = await openNotificationHarness('postgres')
}, 120_000)
afterAll(async () => {
  for (const deliverer of deliverers) await deliverer.close()
  for (const db of databases) await db.close()
  await outbox.close()
})

test('the limit of a channel holds for all processes together, and every delivery is sent once', async () => {
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const sent: string[] = []
  const sender: ChannelSender = async (_, { name }, { messageId }) => {
    const together = (running.get(name) ?? 0) + 1
    running.set(name, together)
    most.set(name, Math.max(most.get(name) ?? 0, together))
    // Long enough for the others to look for work.
    await Bun.sleep(8)
    running.set(name, (running.get(name) ?? 0) - 1)
    sent.push(messageId)
    return { outcome: 'delivered', httpStatus: 200, answer: null }
  }
  const workspace = await outbox.createWorkspace()
  const slack = { type: 'slack', name: 'chat', url: 'https://hooks.slack.com/services/T012/B345/Canary' }
  const channels = [
    await workspace.createWebhook('http://127.0.0.1:9/one', { name: 'quick' }),
    (await workspace.post('/channels', slack)).json.data,
  ]
  const form = await workspace.createForm(channels.map(({ id }) => id))
  await workspace.submit(form, SUBMISSIONS)
  for (let i = 0; i < PROCESSES; i++) {
    const db = await openDatabase({ dataDir: outbox.dataDir, databaseUrl: outbox.databaseUrl })
    databases.push(db)
    const senders = { ...outbox.needs.senders, webhook: sender, slack: sender }
    deliverers.push(await openDeliverer({ ...outbox.needs, db, senders, pollMs: 5 }))
  }
  await until('everything to be delivered', async () => {
    const all = await workspace.listDeliveries()
    return all.length === 2 * SUBMISSIONS && all.every(({ status }) => status === 'delivered')
  })
  // It answers at once, so it gets more than two; the chat service has limits of its own.
  expect(most.get('quick')).toBeWithin(3, 17)
  expect(most.get('chat')).toBe(2)
  expect(sent).toHaveLength(2 * SUBMISSIONS)
  expect(new Set(sent).size).toBe(2 * SUBMISSIONS)
})

test('a process claims only what the others leave of the limit of a channel', async () => {
  const workspace = await outbox.createWorkspace()
  const channel = await workspace.createWebhook('http://127.0.0.1:9/shared', { name: 'shared' })
  for (const deliverer of deliverers.splice(0)) await deliverer.close()
  await workspace.submit(await workspace.createForm([channel.id]), 30)
  const now = Date.now()
  /** Claims as a process does that has nothing on its way and allows the channel so many. */
  const claim = (limit: number) =>
    outbox.db.write(async (connection) => {
      const request = { now, inFlight: [], paused: [], round: { healthy: 0, failing: 0 } }
      const { turns } = await scheduleTurns(connection, 'postgres', { ...request, getLimit: () => limit })
      const ownerNotices = { limit: 0, inFlightIds: [] }
      const claims = await claimDeliveries(connection, 'postgres', {
        turns,
        ownerNotices,
        now,
        leaseMs: 60_000,
      })
      return claims.length
    })
  expect([await claim(5), await claim(7), await claim(2), await claim(16)]).toEqual([5, 2, 0, 9])
})
