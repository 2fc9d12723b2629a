import { expect, test } from 'bun:test'
import {
  type HarnessForm,
  notificationsOnBothEngines,
} from '../../../../tests/support/notification-harness.ts'
import { timeQuietly } from '../../../../tests/support/processor-time.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import type { ChannelSender } from '../channels/contract.ts'
import { pruneAttempts } from './prune-attempts.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** Deliveries that wait for one receiver. */
const BEHIND = atScale({ quick: 100, full: 1_500, soak: 10_000 })

const delivered = { outcome: 'delivered', httpStatus: 200, answer: null } as const
const refused = { outcome: 'refused', httpStatus: 500, answer: 'no' } as const
const never = () => new Promise<Response>(() => {})

notificationsOnBothEngines('in hard times a delivery', (outbox) => {
  const startWith = (sender: ChannelSender) => outbox().startDeliverer(outbox().withWebhook(sender))

  /** A workspace with one channel. */
  async function setUp(url = 'https://example.com/') {
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createFormTo(url)
    const [channelId] = form.channelIds as [number]
    return {
      workspace,
      form,
      submit: (count?: number) => workspace.submit(form, count),
      readChannel: async () => (await workspace.api(`/channels/${channelId}`)).json.data,
      /** Submits, and waits for the attempt. */
      async attempt() {
        await workspace.submit(form)
        const { id } = (await workspace.listDeliveries()).at(-1)
        await until('an attempt', async () => (await workspace.getDelivery(id)).attempts.length === 1)
      },
    }
  }

  /** Remains of a test must not keep the next one waiting. */
  const deleteDeliveries = () =>
    outbox().db.write((connection) => connection.deleteFrom('deliveries').execute())

  test(`waits at most 2 s behind ${BEHIND.toLocaleString('en')} for a receiver that is dead`, async () => {
    const tarpit = outbox().startReceiver(never)
    const hook = outbox().startReceiver()
    const dead = await setUp(tarpit.url)
    for (let sent = 0; sent < BEHIND; sent += 500) await dead.submit(Math.min(500, BEHIND))
    const alive = await setUp(hook.url)
    await outbox().startDeliverer({ pollMs: 1_000 })
    await until('the dead one to be asked', () => tarpit.requests.length > 0)
    for (let i = 0; i < 3; i++) {
      const [, ms] = await timeQuietly(async () => {
        await alive.submit()
        await until('the other', () => hook.requests.length === i + 1)
      })
      expect(ms).toBeLessThan(2_000)
    }
    expect(tarpit.getPeakConcurrency()).toBeLessThanOrEqual(2)
    await deleteDeliveries()
    await tarpit.stop()
  }, 240_000)

  test('is not blocked by receivers that never answer', async () => {
    const tarpit = outbox().startReceiver(never)
    const hook = outbox().startReceiver()
    const busy = await outbox().createWorkspace()
    await outbox().deliverer?.close()
    const dead = await busy.createFormTo(...Array(20).fill(tarpit.url))
    await outbox().db.write((connection) =>
      connection
        .updateTable('channels')
        .set({ failing_since: 1 })
        .where('workspace_id', '=', busy.id)
        .execute(),
    )
    await busy.submit(dead, 3)
    const alive = await setUp(hook.url)
    await outbox().startDeliverer({ pollMs: 1_000 })
    await until('the dead ones to be asked', () => tarpit.requests.length >= 16)
    const [, ms] = await timeQuietly(async () => {
      await alive.submit(20)
      await until('the others', () => hook.requests.length === 20)
    })
    expect(ms).toBeLessThan(2_000)
    expect(tarpit.getPeakConcurrency()).toBe(16)
    await deleteDeliveries()
    await tarpit.stop()
  }, 120_000)

  test('whose sender throws is a failed attempt, and others go on', async () => {
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createFormTo('https://bad.example/', 'https://good.example/')
    await startWith(async (_, to) => {
      if (to.secrets.url?.includes('bad')) throw new Error(`cannot post to ${to.secrets.url}`)
      return delivered
    })
    await workspace.submit(form)
    await workspace.untilThereAre(1, 'delivered')
    const [broken] = await workspace.listDeliveries(`&channelId=${form.channelIds[0]}`)
    const attempts = await until('its record', async () => {
      const found = (await workspace.getDelivery(broken.id)).attempts
      return found.length === 1 && found
    })
    expect(attempts).toMatchObject([
      { outcome: 'unreachable', answer: 'An internal error: see the log of the server' },
    ])
  })

  test('arrives once after its receiver was away for half an hour', async () => {
    const hook = outbox().startReceiver()
    const { workspace, submit } = await setUp(hook.url)
    await outbox().startDeliverer()
    await hook.stop()
    await submit(50)
    const attempts = () => outbox().countAttempts(workspace.id)
    await until('five attempts', async () => (await attempts()) === 5)
    for (let minute = 0; minute < 30; minute += 5) {
      const before = await attempts()
      outbox().advanceClock(5 * MINUTE)
      await until('another attempt', async () => (await attempts()) > before)
    }
    // One now and then, and not one after the other for each of the fifty.
    expect(await attempts()).toBe(5 + 6)
    expect(await workspace.countDeliveries('status=waiting')).toBe(50)
    const back = outbox().startReceiver(undefined, Number(new URL(hook.url).port))
    outbox().advanceClock(60 * MINUTE)
    await workspace.untilThereAre(50, 'delivered')
    expect(back.countById().size).toBe(50)
    expect(back.requests).toHaveLength(50)
  }, 120_000)

  test('disables a channel that has only failed for five days', async () => {
    const { workspace, form, submit, attempt, readChannel } = await setUp()
    await startWith(async () => refused)
    await attempt()
    outbox().advanceClock(4 * DAY)
    await attempt()
    expect(await readChannel()).toMatchObject({ enabled: true, disabledReason: null })
    outbox().advanceClock(DAY)
    await submit()
    await until('it is off', async () => !(await readChannel()).enabled)
    const reason = 'Every attempt failed for five days. The last failure: HTTP 500: no'
    expect((await readChannel()).disabledReason).toBe(reason)
    // Nothing is written down for it any more.
    const before = await workspace.countDeliveries(`formKey=${form.formKey}`)
    await submit()
    expect(await workspace.countDeliveries(`formKey=${form.formKey}`)).toBe(before)
  })

  test('starts the five days again after one success', async () => {
    const { attempt, readChannel } = await setUp()
    let result: typeof delivered | typeof refused = refused
    await startWith(async () => result)
    for (const next of [refused, delivered, refused]) {
      result = next
      await attempt()
      outbox().advanceClock(3 * DAY)
    }
    expect((await readChannel()).enabled).toBe(true)
  })

  test('fails at once when only its message is refused, and the channel stays enabled', async () => {
    const { workspace, submit, readChannel } = await setUp()
    await startWith(async () => ({ ...refused, permanent: { what: 'message', reason: 'too odd' } }))
    await submit()
    await workspace.untilThereAre(1, 'failed')
    expect((await readChannel()).enabled).toBe(true)
  })

  test('that has started ends before the deliverer closes, and no other starts', async () => {
    const gate = Promise.withResolvers<void>()
    const hook = outbox().startReceiver(() => gate.promise.then(() => new Response('ok')))
    const { workspace, submit } = await setUp(hook.url)
    const deliverer = await outbox().startDeliverer()
    await submit(5)
    await until('two in hand', () => hook.requests.length === 2)
    const closing = deliverer.close()
    gate.resolve()
    await closing
    await workspace.untilThereAre(2, 'delivered')
    expect(hook.requests).toHaveLength(2)
    await outbox().startDeliverer()
    await workspace.untilThereAre(5, 'delivered')
    expect(hook.requests).toHaveLength(5)
  })

  test('is deleted when its submission was deleted in the meantime', async () => {
    const gate = Promise.withResolvers<typeof refused>()
    const { workspace, form, submit } = await setUp()
    let asked = 0
    await startWith(() => {
      asked++
      return gate.promise
    })
    const [submissionId] = await submit()
    await until('it is in hand', () => asked === 1)
    await workspace.delete(`/forms/${form.formKey}`)
    gate.resolve(refused)
    await outbox().deliverer?.close()
    expect(await workspace.countDeliveries(`submissionId=${submissionId}`)).toBe(0)
  })

  test('is counted in the metrics', async () => {
    await deleteDeliveries()
    const workspace = await outbox().createWorkspace()
    const [on, off] = [
      await workspace.createFormTo('https://example.com/'),
      await workspace.createFormTo('https://example.com/'),
    ] as [HarnessForm, HarnessForm]
    await outbox().deliverer?.close()
    await workspace.submit(on, 3)
    await workspace.submit(off, 3)
    await workspace.patch(`/channels/${off.channelIds[0]}`, { enabled: false })
    outbox().clockAheadMs += 60_000
    const deliverer = await outbox().startDeliverer({
      ...outbox().withWebhook(async () => refused),
      checkMs: 50,
    })
    const read = (name: string, channel?: string, outcome?: string) =>
      deliverer
        .metrics()
        .find(
          (each) =>
            each.name === `towpath_${name}` &&
            each.labels?.channel === channel &&
            each.labels?.outcome === outcome,
        )?.value
    const attempts = (channel: string, outcome: string) => read('delivery_attempts_total', channel, outcome)
    await until('they are counted', () => attempts('webhook', 'refused') === 3)
    await until('that they were tried', () => read('deliveries_due') === 0)
    expect(read('deliveries_waiting')).toBe(3)
    expect(read('deliveries_oldest_waiting_seconds')).toBe(60)
    // Their next attempt is in the future.
    expect(read('deliveries_oldest_due_seconds')).toBe(0)
    expect([attempts('webhook', 'delivered'), attempts('slack', 'refused')]).toEqual([0, 0])
  })

  test('has its attempts deleted after 30 days', async () => {
    const { workspace, submit } = await setUp()
    await startWith(async () => delivered)
    await submit()
    const [{ id }] = await workspace.untilAllAre('delivered')
    const { db, now } = outbox()
    await pruneAttempts(db, now() + 29 * DAY)
    expect((await workspace.getDelivery(id)).attempts).toHaveLength(1)
    await pruneAttempts(db, now() + 30 * DAY + 1_000)
    expect(await workspace.getDelivery(id)).toMatchObject({ status: 'delivered', attempts: [] })
  })
})
