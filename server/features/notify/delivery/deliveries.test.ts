import { expect, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import {
  type HarnessWorkspace,
  notificationsOnBothEngines,
} from '../../../../tests/support/notification-harness.ts'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { until } from '../../../../tests/support/until.ts'
import { closeMailers } from '../../../http/mail/smtp.ts'

const MINUTE = 60_000

// PostgreSQL counts and pages deliveries with other statements.
notificationsOnBothEngines.quick('deliveries', (outbox) => {
  test('are filtered by status, channel, form, submission and time', async () => {
    const workspace = await outbox().createWorkspace()
    const both = await workspace.createFormTo('https://1.example/', 'https://2.example/')
    const [one, two] = both.channelIds as [number, number]
    const formOne = await workspace.createForm([one])
    const permanent = { what: 'message', reason: 'no' } as const
    await outbox().startDeliverer(
      outbox().withWebhook(async (_, to) =>
        to.secrets.url === 'https://1.example/'
          ? { outcome: 'delivered', httpStatus: 200, answer: null }
          : { outcome: 'refused', httpStatus: 400, answer: null, permanent },
      ),
    )
    const [first] = await workspace.submit(formOne)
    const between = new Date(outbox().now() + MINUTE).toISOString()
    outbox().advanceClock(2 * MINUTE)
    const [second] = await workspace.submit(both)
    await until('both to end', async () => (await workspace.countDeliveries('status=waiting')) === 0)
    const list = async (query: string): Promise<number[]> =>
      (await workspace.listDeliveries(`&${query}`)).map(({ id }) => id)
    const [a, b, c] = (await list('')) as [number, number, number]
    const rows: [string, number[]][] = [
      ['status=delivered', [a, b]],
      ['status=failed', [c]],
      ['status=waiting', []],
      [`channelId=${one}`, [a, b]],
      [`channelId=${two}`, [c]],
      [`formKey=${formOne.formKey}`, [a]],
      [`formKey=${both.formKey}&status=failed`, [c]],
      ['formKey=nothing', []],
      [`submissionId=${first}`, [a]],
      [`submissionId=${second}&channelId=${one}`, [b]],
      [`start=${between}`, [b, c]],
      [`end=${between}`, [a]],
    ]
    for (const [query, ids] of rows) expect([query, await list(query)]).toEqual([query, ids])
    const wrong = ['status=lost', 'channelId=0', 'start=soon', 'start=2026-02-02&end=2026-02-01', 'x=1']
    for (const query of wrong) expect((await workspace.api(`/deliveries?${query}`)).status).toBe(422)
  })
})

notificationsOnBothEngines('deliveries', (outbox) => {
  test('that failed since a time are retried, for one channel or all', async () => {
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createFormTo('https://1.example/', 'https://2.example/')
    await outbox().deliverer?.close()
    // More of each channel than are started again in one transaction.
    const each = 510
    const since = new Date(outbox().now()).toISOString()
    const store = (created_at: number, count: number) =>
      outbox().db.write(async (connection) => {
        for (const channel_id of form.channelIds) {
          const rows = Array.from({ length: count }, (_, n) => ({
            workspace_id: workspace.id,
            channel_id,
            event: 'submission.created',
            message_id: `${channel_id} ${created_at} ${n}`,
            status: 'failed',
            attempts: 10,
            created_at,
            finished_at: created_at,
          }))
          await connection.insertInto('deliveries').values(rows).execute()
        }
      })
    await store(outbox().now() - 1, 2)
    await store(outbox().now(), each)
    const retry = async (body: object) => (await workspace.post('/deliveries/retry', body)).json.data.retried
    expect(await retry({ since, channelId: form.channelIds[0] })).toBe(each)
    expect(await workspace.countDeliveries(`status=waiting&channelId=${form.channelIds[0]}`)).toBe(each)
    expect(await retry({ since })).toBe(each)
    expect(await workspace.countDeliveries('status=waiting')).toBe(2 * each)
    expect(await workspace.countDeliveries('status=failed')).toBe(4)
    expect(await retry({ since })).toBe(0)
    const { json } = await workspace.api('/deliveries?status=waiting&limit=1')
    expect(json.data).toMatchObject([{ attemptCount: 10, nextAttemptAt: since, finishedAt: null }])
    expect((await workspace.post('/deliveries/retry', {})).status).toBe(422)
    expect((await workspace.post('/deliveries/retry', { since: 'yesterday' })).status).toBe(422)
    await outbox().db.write((connection) => connection.deleteFrom('deliveries').execute())
  })

  test('by mail arrive once each after the mail server was away for half an hour', async () => {
    const port = findFreePort()
    const workspace = await outbox().createWorkspace()
    const made = await workspace.createMailChannel({ name: 'Team', to: ['team@example.com'] })
    const form = await workspace.createForm([made.json.data.id])
    const { send } = outbox().needs
    await outbox().startDeliverer({
      send: { ...send, smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom: 'leads@example.com' },
    })
    await workspace.submit(form, 8)
    const attempts = () => outbox().countAttempts(workspace.id)
    await until('attempts', async () => (await attempts()) >= 5)
    for (let minute = 0; minute < 30; minute += 10) {
      const before = await attempts()
      outbox().advanceClock(10 * MINUTE)
      await until('another attempt', async () => (await attempts()) > before)
    }
    expect(await workspace.countDeliveries('status=waiting')).toBe(8)
    const mail = await startMailServer({ port })
    await until('all mail', async () => {
      outbox().advanceClock(10 * MINUTE)
      return (await workspace.countDeliveries('status=delivered')) === 8
    })
    const sent = (await workspace.listDeliveries()).map(({ messageId }) => `<${messageId}@go.example>`)
    expect(mail.mails.map(({ parsed }) => parsed.messageId).sort()).toEqual(sent.sort())
    closeMailers()
    await mail.stop()
  }, 120_000)

  const WAYS: Record<string, (workspace: HarnessWorkspace, channelId: number, since: string) => unknown> = {
    retry: async (workspace) =>
      workspace.post(`/deliveries/${(await workspace.listDeliveries())[0].id}/retry`),
    'retry since': async (workspace, channelId, since) => {
      const [first] = await workspace.listDeliveries()
      await outbox().db.write((connection) =>
        connection.updateTable('deliveries').set({ status: 'failed' }).where('id', '=', first.id).execute(),
      )
      await workspace.post('/deliveries/retry', { since, channelId })
    },
    test: (workspace, channelId) => workspace.post(`/channels/${channelId}/test`),
    'switch on': (workspace, channelId) => workspace.patch(`/channels/${channelId}`, { enabled: true }),
  }

  test.each(Object.entries(WAYS))(
    'of a channel that pauses after failures go on at once by: %s',
    async (_, goOn) => {
      const workspace = await outbox().createWorkspace()
      const hook = outbox().startReceiver(() => new Response('', { status: 503 }))
      const form = await workspace.createFormTo(hook.url)
      await outbox().startDeliverer({ pollMs: 20 })
      const since = new Date(outbox().now()).toISOString()
      await workspace.submit(form, 10)
      await until('five attempts', async () => (await outbox().countAttempts(workspace.id)) === 5)
      // Whatever was due is looked for, more than once.
      const other = await outbox().createWorkspace()
      const elsewhere = await other.createFormTo(outbox().startReceiver().url)
      for (let i = 1; i <= 3; i++) {
        await other.submit(elsewhere)
        await until('another', async () => (await outbox().countAttempts(other.id)) >= i)
      }
      expect(hook.requests).toHaveLength(5)
      hook.respondWith(() => new Response('ok'))
      await goOn(workspace, form.channelIds[0] as number, since)
      // Deliveries that were tried wait for their next attempt.
      await until('the others', async () => (await workspace.countDeliveries('status=delivered')) >= 5)
    },
  )
})
