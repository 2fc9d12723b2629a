import { expect, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { startWebhookReceiver } from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import {
  type HarnessWorkspace,
  notificationsOnBothEngines,
} from '../../../../tests/support/notification-harness.ts'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { until } from '../../../../tests/support/until.ts'
import { closeMailers } from '../../../http/mail/smtp.ts'
import type { ChannelSender } from '../channels/contract.ts'

const MINUTE = 60_000
/** For a machine that is busy with other things. */
const WITHIN_MS = 60_000

notificationsOnBothEngines('deliveries', (outbox) => {
  const list = async (workspace: HarnessWorkspace, query: string): Promise<(number | undefined)[]> =>
    (await workspace.listDeliveries(`&${query}`)).map(({ id }) => id)
  const withWebhook = (webhook: ChannelSender) => ({ senders: { ...outbox().needs.senders, webhook } })
  const statuses = async (workspace: HarnessWorkspace) =>
    (await workspace.listDeliveries()).map(({ status }) => status)

  test('are filtered by status, channel, form, submission and time', async () => {
    const workspace = await outbox().createWorkspace()
    const [one, two] = [
      await workspace.createWebhook('https://1.example/'),
      await workspace.createWebhook('https://2.example/'),
    ]
    const [formOne, both] = [
      await workspace.createForm([one.id]),
      await workspace.createForm([one.id, two.id]),
    ]
    const permanent = { what: 'message', reason: 'no' } as const
    await outbox().startDeliverer(
      withWebhook(async (_, to) =>
        to.secrets.url === 'https://1.example/'
          ? { outcome: 'delivered', httpStatus: 200, answer: null }
          : { outcome: 'refused', httpStatus: 400, answer: null, permanent },
      ),
    )
    const [first] = await workspace.submit(formOne)
    const between = new Date(outbox().now() + MINUTE).toISOString()
    outbox().advanceClock(2 * MINUTE)
    const [second] = await workspace.submit(both)
    await until('both to end', async () => !(await statuses(workspace)).includes('waiting'))
    const [a, b, c] = await list(workspace, '')
    const rows: [string, (number | undefined)[]][] = [
      ['status=delivered', [a, b]],
      ['status=failed', [c]],
      ['status=waiting', []],
      [`channelId=${one.id}`, [a, b]],
      [`channelId=${two.id}`, [c]],
      [`formKey=${formOne.formKey}`, [a]],
      [`formKey=${both.formKey}&status=failed`, [c]],
      ['formKey=nothing', []],
      [`submissionId=${first}`, [a]],
      [`submissionId=${second}&channelId=${one.id}`, [b]],
      [`start=${between}`, [b, c]],
      [`end=${between}`, [a]],
    ]
    for (const [query, ids] of rows) expect([query, await list(workspace, query)]).toEqual([query, ids])
    for (const query of [
      'status=lost',
      'channelId=0',
      'start=soon',
      'start=2026-02-02&end=2026-02-01',
      'x=1',
    ])
      expect((await workspace.api(`/deliveries?${query}`)).status).toBe(422)
  })

  test('that failed since a time are retried, for one channel or all', async () => {
    const workspace = await outbox().createWorkspace()
    const [one, two] = [
      await workspace.createWebhook('https://1.example/'),
      await workspace.createWebhook('https://2.example/'),
    ]
    const form = await workspace.createForm([one.id, two.id])
    let works = false
    const permanent = { what: 'message', reason: 'no' } as const
    const asked: string[] = []
    await outbox().startDeliverer(
      withWebhook(async (_, to, { messageId }) => {
        asked.push(`${to.secrets.url} ${messageId}`)
        if (works) return { outcome: 'delivered', httpStatus: 200, answer: null }
        return { outcome: 'refused', httpStatus: 400, answer: null, permanent }
      }),
    )
    // More than are begun anew in one transaction; which is the same on both engines.
    const each = outbox().db.engine === 'sqlite' ? 260 : 40
    await workspace.submit(form, 2)
    outbox().advanceClock(2 * MINUTE)
    const since = new Date(outbox().now() - MINUTE).toISOString()
    await workspace.submit(form, each)
    await until('all to fail', async () => asked.length === 2 * each + 4, WITHIN_MS)
    await until(
      'their record',
      async () => (await workspace.api('/deliveries?limit=1&status=failed')).json.total === 2 * each + 4,
      WITHIN_MS,
    )
    // It still fails: each is made once more, and only once.
    const again = await workspace.post('/deliveries/retry', { since, channelId: one.id })
    expect(again.json).toEqual({ data: { retried: each } })
    await until('them to fail again', () => asked.length === 3 * each + 4, WITHIN_MS)
    works = true
    await until(
      'their record',
      async () => (await workspace.api('/deliveries?limit=1&status=failed')).json.total === 2 * each + 4,
      WITHIN_MS,
    )
    expect((await workspace.post('/deliveries/retry', { since })).json.data.retried).toBe(2 * each)
    await until(
      'them',
      async () => (await workspace.api('/deliveries?limit=1&status=delivered')).json.total === 2 * each,
      WITHIN_MS,
    )
    expect((await workspace.api('/deliveries?status=failed')).json.total).toBe(4)
    expect(new Set(asked).size).toBe(2 * each + 4)
    expect((await workspace.post('/deliveries/retry', {})).status).toBe(422)
    expect((await workspace.post('/deliveries/retry', { since: 'yesterday' })).status).toBe(422)
  }, 240_000)

  test('by mail arrive once each after the mail server was away for half an hour', async () => {
    const port = findFreePort()
    const workspace = await outbox().createWorkspace()
    const made = await workspace.createMailChannel({ name: 'Team', to: ['team@example.com'] })
    const form = await workspace.createForm([made.json.data.id])
    const { send } = outbox().needs
    await outbox().startDeliverer({
      send: { ...send, smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom: 'leads@example.com' },
    })
    await workspace.submit(form, 20)
    const attempts = () => outbox().countAttempts(workspace.id)
    await until('attempts', async () => (await attempts()) >= 5)
    for (let minute = 0; minute < 30; minute += 10) {
      const before = await attempts()
      outbox().advanceClock(10 * MINUTE)
      await until('another attempt', async () => (await attempts()) > before)
    }
    expect(new Set(await statuses(workspace))).toEqual(new Set(['waiting']))
    const mail = await startMailServer({ port })
    await until('all mail', async () => {
      outbox().advanceClock(10 * MINUTE)
      return (await statuses(workspace)).every((status) => status === 'delivered')
    })
    const sent = (await workspace.listDeliveries()).map(({ messageId }) => `<${messageId}@go.example>`)
    expect(mail.mails.map(({ parsed }) => parsed.messageId).sort()).toEqual(sent.sort())
    closeMailers()
    await mail.stop()
  }, 120_000)

  test.each(['retry', 'retry since', 'test', 'switch on'])(
    'of a channel that pauses after failures go on at once by: %s',
    async (how) => {
      const workspace = await outbox().createWorkspace()
      const [hook, sound] = [startWebhookReceiver(), startWebhookReceiver()]
      hook.respondWith(() => new Response('', { status: 503 }))
      const { id } = await workspace.createWebhook(hook.url)
      const form = await workspace.createForm([id])
      await outbox().startDeliverer({ pollMs: 20 })
      const since = new Date(outbox().now()).toISOString()
      await workspace.submit(form, 20)
      await until('five attempts', async () => (await outbox().countAttempts(workspace.id)) === 5)
      // Whatever was due is looked for, more than once.
      const other = await outbox().createWorkspace()
      const elsewhere = await other.createForm([(await other.createWebhook(sound.url)).id])
      for (let i = 1; i <= 3; i++) {
        await other.submit(elsewhere)
        await until('another', async () => (await outbox().countAttempts(other.id)) >= i)
      }
      expect(hook.requests).toHaveLength(5)
      hook.respondWith(() => new Response('ok'))
      if (how === 'test') await workspace.post(`/channels/${id}/test`)
      else if (how === 'retry since') {
        const [first] = await workspace.listDeliveries()
        await outbox().db.write((connection) =>
          connection.updateTable('deliveries').set({ status: 'failed' }).where('id', '=', first.id).execute(),
        )
        await workspace.post('/deliveries/retry', { since, channelId: id })
      } else if (how === 'retry') {
        await workspace.post(`/deliveries/${(await workspace.listDeliveries())[0].id}/retry`)
      } else await workspace.api(`/channels/${id}`, { method: 'PATCH', body: { enabled: true } })
      // Deliveries that were tried wait for their next attempt.
      await until('the others', async () => {
        const { total } = (await workspace.api('/deliveries?limit=1&status=delivered')).json
        return total >= 15
      })
      await Promise.all([hook.stop(), sound.stop()])
    },
  )
})
