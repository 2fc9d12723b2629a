// Receivers that answer at once get more at once, and nobody else waits for them.

import { expect, test } from 'bun:test'
import { notificationsOnBothEngines } from '../../../../tests/support/notification-harness.ts'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { until } from '../../../../tests/support/until.ts'
import { createNotificationContentReader } from '../../forms/submissions/notification-content.ts'
import { insertSubmissions } from '../../forms/submissions/submission.fixture.ts'
import type { ChannelSender } from '../channels/contract.ts'
import { claimDeliveries } from './claim-deliveries.ts'

const delivered = { outcome: 'delivered', httpStatus: 200, answer: null } as const

notificationsOnBothEngines('a receiver that answers at once', (outbox) => {
  test('gets up to sixteen at once; when it hangs, others are delivered as before', async () => {
    const hung = Promise.withResolvers<void>()
    let hangs = false
    let running = 0
    const webhook: ChannelSender = async (_, { name }) => {
      if (!name.startsWith('quick') || !hangs) return delivered
      running++
      await hung.promise
      return delivered
    }
    const busy = await outbox().createWorkspace()
    const channels = await Promise.all(
      [1, 2, 3].map((i) => busy.createWebhook(`https://quick.example/${i}`, { name: `quick ${i}` })),
    )
    const form = await busy.createForm(channels.map(({ id }) => id))
    await outbox().startDeliverer({ ...outbox().withWebhook(webhook), pollMs: 20 })
    await busy.submit(form, 150)
    await busy.untilThereAre(450, 'delivered')
    hangs = true
    await busy.submit(form, 30)
    // Two slots of each channel, and the 32 that are for quick receivers.
    await until('all that may run', () => running === 6 + 32)
    const other = await outbox().createWorkspace()
    const urls = Array.from({ length: 13 }, (_, i) => `https://other.example/${i}`)
    await other.submit(await other.createFormTo(...urls), 2)
    await other.untilThereAre(26, 'delivered')
    expect(running).toBe(38)
    hangs = false
    hung.resolve()
    await busy.untilThereAre(540, 'delivered')
  })

  test('a claim costs the same however many deliveries wait', async () => {
    const { db, now } = outbox()
    // The processor time of PostgreSQL is not this process's.
    if (db.engine !== 'sqlite') return
    await outbox().deliverer?.close()
    const workspace = await outbox().createWorkspace()
    const channel = await workspace.createWebhook('https://slow.example/')
    const request = { turns: [], ownerNotices: { limit: 2, inFlightIds: [] }, now: now(), leaseMs: 1_000 }
    const claimOften = () =>
      measureProcessorMs(() =>
        db.write(async (connection) => {
          for (let i = 0; i < 100; i++) await claimDeliveries(connection, db.engine, request)
        }),
      )
    await claimOften()
    const few = Math.min(await claimOften(), await claimOften())
    const waiting = { workspace_id: workspace.id, channel_id: channel.id, submission_id: null, due_at: 1 }
    const rows = Array.from({ length: 2_000 }, (_, i) => ({
      ...waiting,
      event: 'submission.created',
      message_id: `claim ${i}`,
      status: 'waiting',
      created_at: 1,
    }))
    for (let from = 0; from < rows.length; from += 500)
      await db.write((connection) =>
        connection
          .insertInto('deliveries')
          .values(rows.slice(from, from + 500))
          .execute(),
      )
    const many = Math.min(await claimOften(), await claimOften())
    expect(many).toBeLessThan(3 * few + 10)
    await db.write((connection) => connection.deleteFrom('deliveries').execute())
  })

  test('waits for attribution only where its own submission is undecided', async () => {
    const { db } = outbox()
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createForm([])
    const [decided = 0, undecided = 0] = await db.write((connection) =>
      insertSubmissions(connection, { workspaceId: workspace.id, formId: form.id }, [
        { attribution_due: 0 },
        { attribution_due: 1 },
      ]),
    )
    const asked: number[] = []
    const resolvePendingAttribution = async (workspaceId: number) => {
      asked.push(workspaceId)
    }
    const origin = 'https://go.example'
    const read = createNotificationContentReader({
      db,
      origin,
      resolvePendingAttribution,
      toFileUrl: () => '',
    })
    expect((await read(workspace.id, decided))?.submissionId).toBe(decided)
    expect(asked).toEqual([])
    expect((await read(workspace.id, undecided))?.submissionId).toBe(undecided)
    expect(asked[0]).toBe(workspace.id)
  })
})
