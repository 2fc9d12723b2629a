import { expect, test } from 'bun:test'
import { SMTPServer } from 'smtp-server'
import { type OutboxWorkspace, outboxOnBothEngines } from '../../../tests/support/outbox.ts'
import { freePort, until } from '../../../tests/support/server.ts'
import { closeMailers } from './channels/smtp.ts'
import type { Send } from './notice.ts'

const MINUTE = 60_000

/** Takes mail on 127.0.0.1; its Message-IDs. */
async function startMailServer(port: number) {
  const ids: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _, done) {
      const chunks: Uint8Array[] = []
      stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      stream.on('end', () => {
        ids.push(/^message-id:\s*(\S+)/im.exec(Buffer.concat(chunks).toString())?.[1] ?? '')
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { ids, stop: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}

outboxOnBothEngines('deliveries', (outbox) => {
  const list = async (workspace: OutboxWorkspace, query: string): Promise<(number | undefined)[]> =>
    (await workspace.deliveries(`&${query}`)).map(({ id }) => id)
  const withWebhook = (webhook: Send) => ({ sendBy: { ...outbox().needs.sendBy, webhook } })
  const statuses = async (workspace: OutboxWorkspace) =>
    (await workspace.deliveries()).map(({ status }) => status)

  test('are found by status, channel, form, submission and time', async () => {
    const workspace = await outbox().workspace()
    const [one, two] = [
      await workspace.webhook('https://1.example/'),
      await workspace.webhook('https://2.example/'),
    ]
    const [formOne, both] = [await workspace.form([one.id]), await workspace.form([one.id, two.id])]
    const permanent = { what: 'message', reason: 'no' } as const
    await outbox().deliver(
      withWebhook(async (_, to) =>
        to.secrets.url === 'https://1.example/'
          ? { outcome: 'delivered', httpStatus: 200, answer: null }
          : { outcome: 'refused', httpStatus: 400, answer: null, permanent },
      ),
    )
    const [first] = await workspace.submit(formOne)
    const between = new Date(outbox().now() + MINUTE).toISOString()
    outbox().pass(2 * MINUTE)
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

  test('that have failed since a time begin anew, those of one channel or all', async () => {
    const workspace = await outbox().workspace()
    const [one, two] = [
      await workspace.webhook('https://1.example/'),
      await workspace.webhook('https://2.example/'),
    ]
    const form = await workspace.form([one.id, two.id])
    let works = false
    const permanent = { what: 'message', reason: 'no' } as const
    const asked: string[] = []
    await outbox().deliver(
      withWebhook(async (_, to, { messageId }) => {
        asked.push(`${to.secrets.url} ${messageId}`)
        if (works) return { outcome: 'delivered', httpStatus: 200, answer: null }
        return { outcome: 'refused', httpStatus: 400, answer: null, permanent }
      }),
    )
    await workspace.submit(form, 2)
    outbox().pass(2 * MINUTE)
    const since = new Date(outbox().now() - MINUTE).toISOString()
    await workspace.submit(form, 300)
    await until('all to fail', async () => asked.length === 604, 20_000)
    await until(
      'their record',
      async () => (await workspace.api('/deliveries?status=failed')).json.total === 604,
    )
    // It still fails: each is made once more, and only once.
    const again = await workspace.post('/deliveries/retry', { since, channelId: one.id })
    expect(again.json).toEqual({ data: { retried: 300 } })
    await until('them to fail again', () => asked.length === 904, 20_000)
    works = true
    await until(
      'their record',
      async () => (await workspace.api('/deliveries?status=failed')).json.total === 604,
    )
    expect((await workspace.post('/deliveries/retry', { since })).json.data.retried).toBe(600)
    await until(
      'them',
      async () => (await workspace.api('/deliveries?status=delivered')).json.total === 600,
      20_000,
    )
    expect((await workspace.api('/deliveries?status=failed')).json.total).toBe(4)
    expect(new Set(asked).size).toBe(604)
    expect((await workspace.post('/deliveries/retry', {})).status).toBe(422)
    expect((await workspace.post('/deliveries/retry', { since: 'yesterday' })).status).toBe(422)
  }, 60_000)

  test('by mail arrive once each, though the mail server was away for half an hour', async () => {
    const port = freePort()
    const workspace = await outbox().workspace()
    const made = await workspace.post('/channels', { type: 'email', name: 'Team', to: ['team@example.com'] })
    const form = await workspace.form([made.json.data.id])
    const { send } = outbox().needs
    await outbox().deliver({
      send: { ...send, smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom: 'leads@example.com' },
    })
    await workspace.submit(form, 20)
    // Counted when it begins, and planned anew when it has ended.
    const failed = (least: number) =>
      until(`${least} attempts each`, async () =>
        (await workspace.deliveries()).every(
          ({ attemptCount, nextAttemptAt }) =>
            attemptCount >= least && Date.parse(nextAttemptAt) > outbox().now(),
        ),
      )
    await failed(1)
    for (const least of [2, 3, 3]) {
      outbox().pass(10 * MINUTE)
      await failed(least)
    }
    expect(new Set(await statuses(workspace))).toEqual(new Set(['waiting']))
    const mail = await startMailServer(port)
    await until('all mail', async () => {
      outbox().pass(10 * MINUTE)
      return (await statuses(workspace)).every((status) => status === 'delivered')
    })
    const sent = (await workspace.deliveries()).map(({ messageId }) => `<${messageId}@go.example>`)
    expect(mail.ids.sort()).toEqual(sent.sort())
    closeMailers()
    await mail.stop()
  }, 20_000)
})
