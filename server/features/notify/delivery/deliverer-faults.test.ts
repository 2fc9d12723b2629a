import { afterEach, expect, test } from 'bun:test'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import {
  type HarnessWorkspace,
  notificationsOnBothEngines,
} from '../../../../tests/support/notification-harness.ts'
import { timeQuietly } from '../../../../tests/support/processor-time.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import type { ChannelSender } from '../channels/contract.ts'
import { openDeliverer } from './deliverer.ts'
import { pruneAttempts } from './prune-attempts.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const receivers: WebhookReceiver[] = []
const receiver = (port?: number) => {
  const one = startWebhookReceiver(port)
  receivers.push(one)
  return one
}
afterEach(async () => {
  for (const one of receivers.splice(0)) await one.stop()
})

/** Deliveries that wait for one receiver. */
const BEHIND = atScale({ full: 1_500, soak: 10_000 })

const delivered = { outcome: 'delivered', httpStatus: 200, answer: null } as const
const refused = { outcome: 'refused', httpStatus: 500, answer: 'no' } as const

notificationsOnBothEngines('in hard times a delivery', (outbox) => {
  const allAre = (workspace: HarnessWorkspace, status: string, count: number) =>
    until(
      `${count} ${status}`,
      async () => (await workspace.api(`/deliveries?limit=1&status=${status}`)).json.total === count,
      60_000,
    )
  const withWebhook = (webhook: ChannelSender) => ({ senders: { ...outbox().needs.senders, webhook } })
  const attemptsOf = async (workspace: HarnessWorkspace, id: number) =>
    (await workspace.api(`/deliveries/${id}`)).json.data.attempts

  test(`waits at most 2 s behind ${BEHIND.toLocaleString('en')} for a receiver that is dead`, async () => {
    const tarpit = receiver()
    tarpit.respondWith(() => new Promise(() => {}))
    const hook = receiver()
    const busy = await outbox().createWorkspace()
    const dead = await busy.createWebhook(tarpit.url)
    const form = await busy.createForm([dead.id])
    for (let sent = 0; sent < BEHIND; sent += 500) await busy.submit(form, 500)
    const other = await outbox().createWorkspace()
    const alive = await other.createForm([(await other.createWebhook(hook.url)).id])
    await outbox().startDeliverer({ pollMs: 1_000 })
    await until('the dead one to be asked', () => tarpit.requests.length > 0)
    for (let i = 0; i < 5; i++) {
      const [, ms] = await timeQuietly(async () => {
        await other.submit(alive)
        await until('the other', () => hook.requests.length === i + 1)
      })
      expect(ms).toBeLessThan(2_000)
    }
    expect(tarpit.getPeakConcurrency()).toBeLessThanOrEqual(2)
    await busy.api(`/channels/${dead.id}`, { method: 'DELETE' })
    await tarpit.stop()
  }, 240_000)

  test('is not blocked by forty receivers that never answer', async () => {
    const tarpit = receiver()
    tarpit.respondWith(() => new Promise(() => {}))
    const busy = await outbox().createWorkspace()
    const ids: number[] = []
    await outbox().deliverer?.close()
    for (let i = 0; i < 40; i++) ids.push((await busy.createWebhook(tarpit.url)).id)
    // They have failed before.
    await outbox().db.write((connection) =>
      connection
        .updateTable('channels')
        .set({ failing_since: 1 })
        .where('workspace_id', '=', busy.id)
        .execute(),
    )
    await busy.submit(await busy.createForm(ids), 50)
    const hook = receiver()
    const other = await outbox().createWorkspace()
    const form = await other.createForm([(await other.createWebhook(hook.url)).id])
    await outbox().startDeliverer({ pollMs: 1_000 })
    await until('the dead ones to be asked', () => tarpit.requests.length >= 16)
    const [, ms] = await timeQuietly(async () => {
      await other.submit(form, 20)
      await until('the others', () => hook.requests.length === 20)
    })
    expect(ms).toBeLessThan(2_000)
    expect(tarpit.getPeakConcurrency()).toBe(16)
    for (const id of ids) await busy.api(`/channels/${id}`, { method: 'DELETE' })
    await tarpit.stop()
  }, 120_000)

  test('runs at most sixteen attempts at once per channel, and each delivery once', async () => {
    const hook = receiver()
    hook.respondWith(async () => {
      await Bun.sleep(2)
      return new Response('ok')
    })
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createForm([(await workspace.createWebhook(hook.url)).id])
    // Two deliverers over the same rows, as two processes are.
    await outbox().startDeliverer()
    const second = await openDeliverer({ ...outbox().needs, pollMs: 20 })
    await workspace.submit(form, 300)
    await allAre(workspace, 'delivered', 300)
    await second.close()
    expect(hook.countById().size).toBe(300)
    expect(hook.requests).toHaveLength(300)
    // With SQLite there is one process: two deliverers do not know of each other.
    const most = outbox().db.engine === 'postgres' ? 16 : 2 * 16
    expect(hook.getPeakConcurrency()).toBeWithin(3, most + 1)
  })

  test('whose sender throws is a failed attempt, and others go on', async () => {
    const workspace = await outbox().createWorkspace()
    const bad = await workspace.createWebhook('https://bad.example/')
    const good = await workspace.createWebhook('https://good.example/')
    const form = await workspace.createForm([bad.id, good.id])
    const breaks: ChannelSender = async (_, to) => {
      if (to.secrets.url?.includes('bad')) throw new Error(`cannot post to ${to.secrets.url}`)
      return delivered
    }
    await outbox().startDeliverer(withWebhook(breaks))
    await workspace.submit(form)
    await allAre(workspace, 'delivered', 1)
    const [broken] = await workspace.listDeliveries(`&channelId=${bad.id}`)
    await until('its record', async () => (await attemptsOf(workspace, broken.id)).length === 1)
    expect(await attemptsOf(workspace, broken.id)).toMatchObject([
      { outcome: 'unreachable', answer: 'A fault of Towpath, which its log describes' },
    ])
  })

  test('of a killed process is taken over when its lease ends, and its attempt counts', async () => {
    const workspace = await outbox().createWorkspace()
    const url = 'https://killed.example/'
    const form = await workspace.createForm([(await workspace.createWebhook(url)).id])
    await outbox().deliverer?.close()
    await workspace.submit(form)
    // As the claim of a process that was killed a moment ago.
    const leased = outbox().now() + 30_000
    await outbox().db.write((connection) =>
      connection
        .updateTable('deliveries')
        .set({ attempts: 1, leased_until: leased })
        .where('workspace_id', '=', workspace.id)
        .execute(),
    )
    let asked = 0
    const counts: ChannelSender = async (_, to) => {
      if (to.secrets.url === url) asked++
      return delivered
    }
    const { db } = outbox()
    // One process uses an SQLite file. At its start it takes back the deliveries of the process before.
    await outbox().startDeliverer({ ...withWebhook(counts) })
    if (db.engine === 'postgres') {
      // The deliverer has looked for deliveries to other channels, and has found them.
      const other = await outbox().createWorkspace()
      await other.submit(await other.createForm([(await other.createWebhook('https://other.example/')).id]))
      await allAre(other, 'delivered', 1)
      expect(asked).toBe(0)
      outbox().advanceClock(31_000)
    }
    await allAre(workspace, 'delivered', 1)
    const [{ id, attemptCount, interruptedCount }] = await workspace.listDeliveries()
    expect([asked, attemptCount, interruptedCount]).toEqual([1, 1, 1])
    const attempts = await attemptsOf(workspace, id)
    expect(attempts.map((each: { outcome: string }) => each.outcome)).toEqual(['delivered', 'interrupted'])
  })

  test.each([
    ['twenty times is given up', { attempts: 20, interrupted: 19 }, 'failed', 0],
    [
      'nineteen times, which need not be its fault, is tried again',
      { attempts: 19, interrupted: 18 },
      'delivered',
      1,
    ],
    ['once, after nine refusals, is given its tenth', { attempts: 10, interrupted: 0 }, 'delivered', 1],
  ])('that ended the process it was made in %s', async (_, made, status, times) => {
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createForm([(await workspace.createWebhook('https://example.com/')).id])
    await outbox().deliverer?.close()
    await workspace.submit(form)
    await outbox().db.write((connection) =>
      connection
        .updateTable('deliveries')
        .set({ ...made, leased_until: 1 })
        .where('workspace_id', '=', workspace.id)
        .execute(),
    )
    let asked = 0
    await outbox().startDeliverer(
      withWebhook(async () => {
        asked++
        return delivered
      }),
    )
    await allAre(workspace, status, 1)
    expect(asked).toBe(times)
  })

  test('arrives once after its receiver was away for half an hour', async () => {
    const hook = receiver()
    const port = Number(new URL(hook.url).port)
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createForm([(await workspace.createWebhook(hook.url)).id])
    await outbox().startDeliverer()
    await hook.stop()
    await workspace.submit(form, 50)
    const attempts = () => outbox().countAttempts(workspace.id)
    await until('five attempts', async () => (await attempts()) === 5)
    for (let minute = 0; minute < 30; minute += 5) {
      const before = await attempts()
      outbox().advanceClock(5 * MINUTE)
      await until('another attempt', async () => (await attempts()) > before)
    }
    // One now and then, and not one after the other for each of the fifty.
    expect(await attempts()).toBe(5 + 6)
    expect((await workspace.api('/deliveries?status=waiting')).json.total).toBe(50)
    const back = receiver(port)
    outbox().advanceClock(60 * MINUTE)
    await allAre(workspace, 'delivered', 50)
    expect(back.countById().size).toBe(50)
    expect(back.requests).toHaveLength(50)
  }, 120_000)

  test('disables a channel that has only failed for five days', async () => {
    const workspace = await outbox().createWorkspace()
    const channel = await workspace.createWebhook('https://example.com/')
    const form = await workspace.createForm([channel.id])
    await outbox().startDeliverer(withWebhook(async () => refused))
    const on = async () => (await workspace.api(`/channels/${channel.id}`)).json.data
    const fail = async () => {
      await workspace.submit(form)
      const { id } = (await workspace.listDeliveries()).at(-1)
      await until('it fails', async () => (await attemptsOf(workspace, id)).length === 1)
    }
    await fail()
    outbox().advanceClock(4 * DAY)
    await fail()
    expect(await on()).toMatchObject({ enabled: true, disabledReason: null })
    outbox().advanceClock(DAY)
    await workspace.submit(form)
    await until('it is off', async () => !(await on()).enabled)
    const reason = 'Nothing but failures for five days; the last was: HTTP 500: no'
    expect((await on()).disabledReason).toBe(reason)
    // Nothing is written down for it any more.
    const total = async () => (await workspace.api(`/deliveries?formKey=${form.formKey}`)).json.total
    const before = await total()
    await workspace.submit(form)
    expect(await total()).toBe(before)
  })

  test('starts the five days again after one success', async () => {
    let result: typeof delivered | typeof refused = refused
    const workspace = await outbox().createWorkspace()
    const channel = await workspace.createWebhook('https://example.com/')
    const form = await workspace.createForm([channel.id])
    await outbox().startDeliverer(withWebhook(async () => result))
    for (const next of [refused, delivered, refused]) {
      result = next
      await workspace.submit(form)
      const { id } = (await workspace.listDeliveries()).at(-1)
      await until('an attempt', async () => (await attemptsOf(workspace, id)).length === 1)
      outbox().advanceClock(3 * DAY)
    }
    expect((await workspace.api(`/channels/${channel.id}`)).json.data.enabled).toBe(true)
  })

  test('fails at once when only its message is refused, and the channel stays enabled', async () => {
    const workspace = await outbox().createWorkspace()
    const channel = await workspace.createWebhook('https://example.com/')
    const form = await workspace.createForm([channel.id])
    const message = { what: 'message', reason: 'too odd' } as const
    await outbox().startDeliverer(withWebhook(async () => ({ ...refused, permanent: message })))
    await workspace.submit(form)
    await allAre(workspace, 'failed', 1)
    expect((await workspace.api(`/channels/${channel.id}`)).json.data.enabled).toBe(true)
  })

  test('that has started ends before the deliverer closes, and no other starts', async () => {
    const hook = receiver()
    const gate = Promise.withResolvers<void>()
    hook.respondWith(async () => {
      await gate.promise
      return new Response('ok')
    })
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createForm([(await workspace.createWebhook(hook.url)).id])
    const deliverer = await outbox().startDeliverer()
    await workspace.submit(form, 5)
    await until('two in hand', () => hook.requests.length === 2)
    const closing = deliverer.close()
    gate.resolve()
    await closing
    await allAre(workspace, 'delivered', 2)
    expect(hook.requests).toHaveLength(2)
    await outbox().startDeliverer()
    await allAre(workspace, 'delivered', 5)
    expect(hook.requests).toHaveLength(5)
  })

  test('is deleted when its submission was deleted in the meantime', async () => {
    const gate = Promise.withResolvers<void>()
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createForm([(await workspace.createWebhook('https://example.com/')).id])
    let asked = 0
    await outbox().startDeliverer(
      withWebhook(async () => {
        asked++
        await gate.promise
        return refused
      }),
    )
    const [submissionId] = await workspace.submit(form)
    await until('it is in hand', () => asked === 1)
    await workspace.api(`/forms/${form.formKey}`, { method: 'DELETE' })
    gate.resolve()
    await outbox().deliverer?.close()
    expect((await workspace.api(`/deliveries?submissionId=${submissionId}`)).json.total).toBe(0)
  })

  test('is counted in the metrics', async () => {
    await outbox().db.write((connection) => connection.deleteFrom('deliveries').execute())
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createForm([(await workspace.createWebhook('https://example.com/')).id])
    const off = await workspace.createForm([(await workspace.createWebhook('https://example.com/')).id])
    await outbox().deliverer?.close()
    await workspace.submit(form, 3)
    await workspace.submit(off, 3)
    await workspace.api(`/channels/${off.channelIds[0]}`, { method: 'PATCH', body: { enabled: false } })
    outbox().clockAheadMs += 60_000
    const deliverer = await outbox().startDeliverer({ ...withWebhook(async () => refused), checkMs: 50 })
    const figure = (name: string) =>
      deliverer.metrics().find((each) => each.name === `towpath_${name}`)?.value
    const attempts = (channel: string, outcome: string) =>
      deliverer.metrics().find(({ labels }) => labels?.channel === channel && labels.outcome === outcome)
        ?.value
    await until('they are counted', () => attempts('webhook', 'refused') === 3)
    await until('that they were tried', () => figure('deliveries_due') === 0)
    expect(figure('deliveries_waiting')).toBe(3)
    expect(figure('deliveries_oldest_waiting_seconds')).toBeWithin(60, 70)
    // Their next attempt is in the future.
    expect(figure('deliveries_oldest_due_seconds')).toBe(0)
    expect([attempts('webhook', 'delivered'), attempts('slack', 'refused')]).toEqual([0, 0])
  })

  test('has its attempts deleted after 30 days', async () => {
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createForm([(await workspace.createWebhook('https://example.com/')).id])
    await outbox().startDeliverer(withWebhook(async () => delivered))
    await workspace.submit(form)
    await allAre(workspace, 'delivered', 1)
    const [{ id }] = await workspace.listDeliveries()
    const { db, now } = outbox()
    await pruneAttempts(db, now() + 29 * DAY)
    expect(await attemptsOf(workspace, id)).toHaveLength(1)
    await pruneAttempts(db, now() + 30 * DAY + 1_000)
    expect(await attemptsOf(workspace, id)).toEqual([])
    expect((await workspace.listDeliveries())[0].status).toBe('delivered')
  })
})
