// Claims of deliveries: one process at a time, within the limit of its channel, and the next one when a process ends.

import { describe, expect, test } from 'bun:test'
import {
  type NotificationHarness,
  notificationsOnBothEngines,
  openNotificationHarness,
} from '../../../../tests/support/notification-harness.ts'
import { atScale, full } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { BOTH_ENGINES } from '../../../../tests/support/world.ts'
import {
  type Connection,
  type DatabaseHandle,
  openDatabase,
} from '../../../storage/database/open-database.ts'
import type { ChannelSender } from '../channels/contract.ts'
import { claimDeliveries } from './claim-deliveries.ts'
import { openDeliverer } from './deliverer.ts'
import { scheduleTurns } from './fair-schedule.ts'

const delivered = { outcome: 'delivered', httpStatus: 200, answer: null } as const

notificationsOnBothEngines.quick('a delivery', (outbox) => {
  /** Stores a submission while no deliverer runs, and gives its delivery the columns of a claim. */
  async function claimedBefore(url: string, columns: object) {
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createFormTo(url)
    await outbox().deliverer?.close()
    await workspace.submit(form)
    await outbox().db.write((connection) =>
      connection.updateTable('deliveries').set(columns).where('workspace_id', '=', workspace.id).execute(),
    )
    return workspace
  }

  /** Starts a deliverer. @returns how often it asks the URL */
  async function countAsked(url: string) {
    let asked = 0
    const webhook: ChannelSender = async (_, { secrets }) => {
      if (secrets.url === url) asked++
      return delivered
    }
    await outbox().startDeliverer(outbox().withWebhook(webhook))
    return () => asked
  }

  test('is attempted once by two deliverers, at most sixteen at once for a channel', async () => {
    const hook = outbox().startReceiver()
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createFormTo(hook.url)
    await outbox().startDeliverer()
    const second = await openDeliverer({ ...outbox().needs, pollMs: 20 })
    const count = atScale({ quick: 20, full: 300, soak: 300 })
    await workspace.submit(form, count)
    await workspace.untilThereAre(count, 'delivered')
    await second.close()
    expect(hook.countById().size).toBe(count)
    expect(hook.requests).toHaveLength(count)
    // With SQLite there is one process: two deliverers do not know of each other.
    expect(hook.getPeakConcurrency()).toBeWithin(1, outbox().db.engine === 'postgres' ? 17 : 33)
  })

  test('of a killed process is taken over when its lease ends, and its attempt counts', async () => {
    const url = 'https://killed.example/'
    const workspace = await claimedBefore(url, { attempts: 1, leased_until: outbox().now() + 30_000 })
    // One process uses an SQLite file. At its start it takes back the deliveries of the process before.
    const countAsks = await countAsked(url)
    if (outbox().db.engine === 'postgres') {
      // The deliverer has looked for deliveries to other channels, and has found them.
      const other = await outbox().createWorkspace()
      await other.submit(await other.createFormTo('https://other.example/'))
      await other.untilThereAre(1, 'delivered')
      expect(countAsks()).toBe(0)
      outbox().advanceClock(31_000)
    }
    const [{ id, attemptCount, interruptedCount }] = await workspace.untilAllAre('delivered')
    expect([countAsks(), attemptCount, interruptedCount]).toEqual([1, 1, 1])
    const { attempts } = await workspace.getDelivery(id)
    expect(attempts.map((each: { outcome: string }) => each.outcome)).toEqual(['delivered', 'interrupted'])
  })

  test.each([
    ['twenty times is given up', 20, 19, 'failed', 0],
    ['nineteen times, which need not be its fault, is tried again', 19, 18, 'delivered', 1],
    ['once, after nine refusals, is given its tenth', 10, 0, 'delivered', 1],
  ])('that ended the process it was made in %s', async (_, attempts, interrupted, status, asks) => {
    const url = 'https://example.com/'
    const workspace = await claimedBefore(url, { attempts, interrupted, leased_until: 1 })
    const countAsks = await countAsked(url)
    await workspace.untilAllAre(status)
    expect(countAsks()).toBe(asks)
  })
})

/** Two processes on one database. */
describe.each(BOTH_ENGINES.filter((engine) => engine === 'postgres'))('processes on %s', (engine) => {
  /** Gives the test a harness whose deliverer does not run. */
  async function withOutbox(work: (outbox: NotificationHarness, others: DatabaseHandle[]) => Promise<void>) {
    const outbox = await openNotificationHarness(engine)
    const others: DatabaseHandle[] = []
    try {
      for (let i = 0; i < 3; i++)
        others.push(await openDatabase({ dataDir: outbox.dataDir, databaseUrl: outbox.databaseUrl }))
      await work(outbox, others)
    } finally {
      for (const db of others) await db.close()
      await outbox.close()
    }
  }

  /** Claims as a process does that has nothing on its way. @returns the channels of the claims, or the event of notices */
  async function claim(
    connection: Connection,
    now: number,
    { limit = 16, notices = 0, paused = [] as number[] },
  ) {
    const request = { now, inFlight: [], paused, round: { healthy: 0, failing: 0 }, getLimit: () => limit }
    const { turns } = await scheduleTurns(connection, engine, request)
    const ownerNotices = { limit: notices, inFlightIds: [] }
    const claims = await claimDeliveries(connection, engine, { turns, ownerNotices, now, leaseMs: 60_000 })
    return claims.map(({ id, channel, event }) => ({ id, channel: channel.id, event }))
  }

  test('claim only what the others leave of the limit of a channel, and nothing that another claims now', () =>
    withOutbox(async (outbox, [other]) => {
      const { db, now } = outbox
      const workspace = await outbox.createWorkspace()
      const form = await workspace.createFormTo('http://127.0.0.1:9/one', 'http://127.0.0.1:9/two')
      const [one, two] = form.channelIds as [number, number]
      await workspace.submit(form, 30)
      const count = async (limit: number) =>
        (await db.write((connection) => claim(connection, now(), { limit, paused: [two] }))).length
      expect([await count(5), await count(7), await count(2), await count(16)]).toEqual([5, 2, 0, 9])

      const notice = {
        workspace_id: workspace.id,
        channel_id: one,
        event: 'channel.disabled',
        status: 'waiting',
      }
      const notices = [1, 2, 3].map((n) => ({ ...notice, message_id: `n${n}`, due_at: n, created_at: n }))
      await db.write((connection) => connection.insertInto('deliveries').values(notices).execute())
      await workspace.submit({ ...form, channelIds: [one] }, 5)
      outbox.advanceClock(61_000)
      // The first process has claimed, and has not committed yet.
      await db.write(async (connection) => {
        const first = await claim(connection, now(), { notices: 2, paused: [two] })
        expect(first).toHaveLength(16 + 2)
        const second = await other?.write((elsewhere) => claim(elsewhere, now(), { notices: 2 }))
        expect(second?.map(({ channel, event }) => `${channel} ${event}`)).toEqual([
          ...Array(16).fill(`${two} submission.created`),
          `${one} channel.disabled`,
        ])
      })
    }))

  full('send to a channel together at most as much at once as one may, and every delivery once', () =>
    withOutbox(async (outbox, databases) => {
      const running = new Map<string, number>()
      const most = new Map<string, number>()
      const sent: string[] = []
      const sender: ChannelSender = async (_, { name }, { messageId }) => {
        const together = (running.get(name) ?? 0) + 1
        running.set(name, together)
        most.set(name, Math.max(most.get(name) ?? 0, together))
        // The others look for work meanwhile.
        for (let i = 0; i < 5; i++) await outbox.countAttempts(0)
        running.set(name, (running.get(name) ?? 0) - 1)
        sent.push(messageId)
        return delivered
      }
      const workspace = await outbox.createWorkspace()
      const slack = { type: 'slack', name: 'chat', url: 'https://hooks.slack.com/services/T012/B345/Canary' }
      const channels = [
        await workspace.createWebhook('http://127.0.0.1:9/one', { name: 'quick' }),
        (await workspace.post('/channels', slack)).json.data,
      ]
      await workspace.submit(await workspace.createForm(channels.map(({ id }) => id)), 150)
      const senders = { ...outbox.needs.senders, webhook: sender, slack: sender }
      const deliverers = await Promise.all(
        databases.map((db) => openDeliverer({ ...outbox.needs, db, senders, pollMs: 5 })),
      )
      await until('everything to be delivered', async () => {
        return (await workspace.countDeliveries('status=delivered')) === 300
      })
      for (const deliverer of deliverers) await deliverer.close()
      // It answers at once, so it gets more than two; the chat service has limits of its own.
      expect(most.get('quick')).toBeWithin(3, 17)
      expect(most.get('chat')).toBe(2)
      expect(sent).toHaveLength(300)
      expect(new Set(sent).size).toBe(300)
    }),
  )
})
