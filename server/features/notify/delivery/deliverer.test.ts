import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import {
  type HarnessWorkspace,
  notificationsOnBothEngines,
} from '../../../../tests/support/notification-harness.ts'
import { timeQuietly } from '../../../../tests/support/processor-time.ts'
import { until } from '../../../../tests/support/until.ts'
import type { ChannelSender } from '../channels/contract.ts'
import { RETRY_DELAYS } from './retry-schedule.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const delivered = { outcome: 'delivered', httpStatus: 200, answer: null } as const

// One story of the feature: on both engines.
notificationsOnBothEngines.quick('a stored submission', (outbox) => {
  test('reaches a webhook at once, signed, and is recorded', async () => {
    const hook = outbox().startReceiver()
    const workspace = await outbox().createWorkspace()
    const channel = await workspace.createWebhook(hook.url)
    const form = await workspace.createForm([channel.id])
    // Waking, and not looking now and then, is what makes it come at once.
    await outbox().startDeliverer({ pollMs: 60_000 })
    const [[submissionId], ms] = await timeQuietly(async () => {
      const ids = await workspace.submit(form)
      await until('the webhook', () => hook.requests.length === 1)
      return ids
    })
    expect(ms).toBeLessThan(10_000)
    const { headers, body, id } = hook.requests[0] as (typeof hook.requests)[0]
    const verified = new Webhook(channel.secret).verify(body, headers) as Record<string, unknown>
    expect(verified).toMatchObject({ type: 'submission.created', data: { id: submissionId } })
    expect(id).toMatch(/^msg_[0-9A-Za-z]{22}$/)
    const [delivery] = await workspace.untilAllAre('delivered')
    expect(delivery).toEqual({
      id: delivery.id,
      channelId: channel.id,
      submissionId,
      formKey: form.formKey,
      formName: 'Contact',
      sender: null,
      event: 'submission.created',
      digestId: null,
      messageId: id,
      status: 'delivered',
      attemptCount: 1,
      interruptedCount: 0,
      lastError: null,
      nextAttemptAt: null,
      createdAt: expect.any(String),
      finishedAt: expect.any(String),
    })
    expect((await workspace.getDelivery(delivery.id)).attempts).toEqual([
      {
        attempt: 1,
        outcome: 'delivered',
        httpStatus: 200,
        answer: 'ok',
        tookMs: expect.any(Number),
        at: expect.any(String),
      },
    ])
    expect((await workspace.api(`/channels/${channel.id}`)).json.data.lastDeliveryAt).not.toBeNull()
  })
})

notificationsOnBothEngines('a stored submission', (outbox) => {
  const attemptsMade = (workspace: HarnessWorkspace, id: number, count: number) =>
    until(`attempt ${count}`, async () => (await workspace.getDelivery(id)).attempts.length >= count)

  /** Somebody else's delivery is attempted: whatever was due before has been looked at. */
  async function aTurn() {
    const workspace = await outbox().createWorkspace()
    await workspace.submit(await workspace.createFormTo(outbox().startReceiver().url))
    await until('another delivery', async () => (await workspace.listDeliveries())[0].attemptCount === 1)
  }

  test('is one delivery for each enabled channel of the form', async () => {
    const hook = outbox().startReceiver()
    const workspace = await outbox().createWorkspace()
    const on = await workspace.createWebhook(hook.url)
    const off = await workspace.createWebhook(hook.url, { enabled: false })
    const unnamed = await workspace.createWebhook(hook.url)
    const form = await workspace.createForm([on.id, off.id])
    await outbox().startDeliverer()
    await workspace.submit({ ...form, channelIds: [on.id, off.id, 999_999] })
    const all = await workspace.untilAllAre('delivered')
    expect(all.map(({ channelId }) => channelId)).toEqual([on.id])
    expect(unnamed.id).not.toBe(on.id)
    expect(hook.requests).toHaveLength(1)
  })

  test('is retried after 5 s, 5 min and 30 min with the same id and a new signature', async () => {
    const hook = outbox().startReceiver(() => new Response('not now', { status: 503 }))
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createFormTo(hook.url)
    await outbox().startDeliverer()
    await workspace.submit(form)
    const [{ id }] = await workspace.listDeliveries()
    for (const [made, wait] of [5 * SECOND, 5 * MINUTE, 30 * MINUTE].entries()) {
      await attemptsMade(workspace, id, made + 1)
      const { nextAttemptAt, status, attemptCount } = await workspace.getDelivery(id)
      expect([status, attemptCount]).toEqual(['waiting', made + 1])
      expect(Date.parse(nextAttemptAt) - outbox().now()).toBeWithin(wait * 0.8 - 2 * SECOND, wait * 1.2 + 1)
      outbox().advanceClock(wait * 0.75)
      await aTurn()
      expect(hook.requests).toHaveLength(made + 1)
      if (made === 2) hook.respondWith(() => new Response('ok'))
      outbox().advanceClock(wait * 0.5)
    }
    await workspace.untilAllAre('delivered')
    expect(hook.requests).toHaveLength(4)
    expect(new Set(hook.requests.map((each) => each.id)).size).toBe(1)
    const stamps = hook.requests.map(({ headers }) => headers['webhook-timestamp'])
    expect(new Set(stamps).size).toBe(4)
    const { attempts } = await workspace.getDelivery(id)
    expect(
      attempts.map((each: { outcome: string; httpStatus: number }) => [each.outcome, each.httpStatus]),
    ).toEqual([
      ['delivered', 200],
      ['refused', 503],
      ['refused', 503],
      ['refused', 503],
    ])
  })

  test('fails after ten attempts, and can be retried by hand', async () => {
    let asked = 0
    const refuses: ChannelSender = async (_, to) => {
      if (to.secrets.url === url) asked++
      return { outcome: 'refused', httpStatus: 500, answer: 'no' }
    }
    const workspace = await outbox().createWorkspace()
    const url = 'https://refuses.example/hook'
    const form = await workspace.createFormTo(url)
    await outbox().startDeliverer(outbox().withWebhook(refuses))
    await workspace.submit(form)
    for (const [made, wait] of RETRY_DELAYS.entries()) {
      outbox().advanceClock(wait * 1.25)
      await until(`attempt ${made + 1}`, () => asked === made + 1)
      const [{ id }] = await workspace.listDeliveries()
      await attemptsMade(workspace, id, made + 1)
    }
    const [failed] = await workspace.untilAllAre('failed')
    expect(failed).toMatchObject({ attemptCount: 10, nextAttemptAt: null, lastError: 'HTTP 500: no' })
    outbox().advanceClock(DAY)
    await aTurn()
    expect(asked).toBe(10)
    await outbox().startDeliverer(outbox().withWebhook(async () => delivered))
    const again = await workspace.post(`/deliveries/${failed.id}/retry`)
    expect(again.json.data).toMatchObject({ status: 'waiting', messageId: failed.messageId })
    // A retry by hand begins the schedule anew, and the attempts before it are not forgotten.
    expect(await workspace.untilAllAre('delivered')).toMatchObject([{ attemptCount: 11, lastError: null }])
  })

  test('waits for the Retry-After of its receiver, and so does its whole channel', async () => {
    const slower = { status: 429, headers: { 'Retry-After': '3600' } }
    const hook = outbox().startReceiver(() => new Response('slower', slower))
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createFormTo(hook.url)
    await outbox().startDeliverer()
    await workspace.submit(form)
    await until('the first request', () => hook.requests.length === 1)
    const [{ id }] = await workspace.listDeliveries()
    await attemptsMade(workspace, id, 1)
    await workspace.submit(form)
    outbox().advanceClock(59 * MINUTE)
    await aTurn()
    expect(hook.requests).toHaveLength(1)
    hook.respondWith(() => new Response('ok'))
    outbox().advanceClock(2 * MINUTE)
    await workspace.untilAllAre('delivered')
    expect(hook.requests).toHaveLength(3)
  })

  test('410 disables the channel, tells the owners, and keeps the waiting deliveries', async () => {
    const hook = outbox().startReceiver(() => new Response('gone', { status: 410 }))
    const told: Parameters<ChannelSender>[2][] = []
    const hears: ChannelSender = async (_, __, notice) => {
      told.push(notice)
      return delivered
    }
    const workspace = await outbox().createWorkspace()
    const channel = await workspace.createWebhook(hook.url, { name: 'Old hook' })
    await workspace.createMailChannel({ name: 'Team', to: ['team@example.com'] })
    const form = await workspace.createForm([channel.id])
    const { senders, send } = outbox().needs
    await outbox().startDeliverer({
      senders: { ...senders, email: hears },
      send: { ...send, smtpUrl: 'smtp://mail.example' },
    })
    await workspace.submit(form)
    await until('word', () => told.length === 1)
    const { data } = (await workspace.api(`/channels/${channel.id}`)).json
    expect(data.enabled).toBe(false)
    expect(data.disabledReason).toContain('410')
    expect(told[0]).toMatchObject({ event: 'channel.disabled', form: { name: 'Old hook' } })
    expect(told[0]?.fields.get('Why')).toBe(data.disabledReason)
    outbox().advanceClock(2 * DAY)
    await aTurn()
    expect(hook.requests).toHaveLength(1)
    const kept = await workspace.listDeliveries(`&channelId=${channel.id}&status=waiting`)
    expect(kept).toMatchObject([{ status: 'waiting', attemptCount: 1 }])
    hook.respondWith(() => new Response('ok'))
    await workspace.patch(`/channels/${channel.id}`, { enabled: true })
    await workspace.untilAllAre('delivered')
  })
})
