// A receiver that is slower than the submissions: the API, the metrics and one email to the owners report the backlog,
// and the API and the metrics report its end.

import { afterEach, expect, spyOn, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { startWebhookReceiver } from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import {
  type HarnessWorkspace,
  notificationsOnBothEngines,
} from '../../../../tests/support/notification-harness.ts'
import { until } from '../../../../tests/support/until.ts'
import { closeMailers } from '../../../http/mail/smtp.ts'
import { setLogLevel } from '../../../lib/log.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const ends: (() => unknown)[] = []
afterEach(async () => {
  closeMailers()
  for (const end of ends.splice(0).reverse()) await end()
})

/** Keeps every request waiting while it is slow. */
function slowReceiver() {
  const hook = startWebhookReceiver()
  let slow = Promise.withResolvers<void>()
  hook.respondWith(async () => {
    await slow.promise
    return new Response('ok')
  })
  ends.push(() => slow.resolve(), hook.stop)
  return {
    ...hook,
    hurry: () => slow.resolve(),
    slowDown() {
      slow = Promise.withResolvers()
    },
  }
}

notificationsOnBothEngines('a channel whose receiver is too slow', (outbox) => {
  async function setUp() {
    await outbox().deliverer?.close()
    const mail = await startMailServer()
    ends.push(mail.stop)
    const hook = slowReceiver()
    const workspace = await outbox().createWorkspace()
    await workspace.createMailChannel({ name: 'Team', to: ['team@example.com'] })
    const channel = await workspace.createWebhook(hook.url, { name: 'CRM' })
    const form = await workspace.createForm([channel.id])
    const { send } = outbox().needs
    const smtp = {
      ...send,
      timeoutMs: 40_000,
      smtpUrl: mail.url(),
      mailFrom: 'Towpath <towpath@example.com>',
    }
    const deliverer = await outbox().startDeliverer({ send: smtp, checkMs: 20 })
    const growing = () =>
      deliverer.metrics().find(({ name }) => name === 'towpath_deliveries_backlog_growing')?.value
    return { mails: mail.mails, hook, workspace, channel, form, growing }
  }
  type Setting = Awaited<ReturnType<typeof setUp>>

  const read = async (workspace: HarnessWorkspace, id: number) =>
    (await workspace.api(`/channels/${id}`)).json.data

  /** Submissions go on, and the receiver answers none of them. */
  async function fallBehind({ workspace, channel, form }: Setting) {
    await workspace.submit(form, 5)
    outbox().advanceClock(MINUTE + 1_000)
    return until('it to fall behind', async () => {
      await workspace.submit(form)
      const data = await read(workspace, channel.id)
      return data.behindSince === null ? undefined : data
    })
  }

  async function catchUp({ hook, workspace, channel, growing }: Setting) {
    hook.hurry()
    await until('it to catch up', async () => (await read(workspace, channel.id)).behindSince === null)
    await until('the metric', () => growing() === 0)
  }

  const count = (mails: Setting['mails']) =>
    mails.filter(({ parsed }) => parsed.subject === 'A notification channel falls behind').length

  test('is known to callers, operators and owners, once an episode and once a day', async () => {
    const lines: string[] = []
    const out = spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
    const err = spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
    setLogLevel('info')
    ends.push(
      () => setLogLevel('silent'),
      () => out.mockRestore(),
      () => err.mockRestore(),
    )
    const setting = await setUp()
    const { mails, hook, workspace, channel, growing } = setting
    expect(await read(workspace, channel.id)).toMatchObject({
      waiting: 0,
      oldestWaitingAt: null,
      behindSince: null,
    })
    const behind = await fallBehind(setting)
    expect(behind.waiting).toBeGreaterThanOrEqual(6)
    expect(Date.parse(behind.oldestWaitingAt)).toBeLessThan(outbox().now() - MINUTE)
    const { json } = await workspace.api('/channels')
    const listed = json.data.find(({ id }: { id: number }) => id === channel.id)
    expect(listed.oldestWaitingAt).toBe(behind.oldestWaitingAt)
    await until('the metric', () => growing() === 1)
    const [mail] = await until('the mail', () => (count(mails) === 1 ? mails : undefined))
    const text = mail?.parsed.text?.replaceAll(/\s+/g, ' ')
    for (const said of ['CRM (webhook)', 'notifications, the oldest since', 'Notifications arrive faster'])
      expect(text).toContain(said)

    await catchUp(setting)
    const done = await until('the rest', async () => {
      const data = await read(workspace, channel.id)
      return data.waiting === 0 ? data : undefined
    })
    expect(done.oldestWaitingAt).toBeNull()
    const logged = lines.join('')
    expect(logged.match(/deliveries_fall_behind/g)).toHaveLength(1)
    expect(logged.match(/deliveries_caught_up/g)).toHaveLength(1)
    hook.slowDown()
    await fallBehind(setting)
    await catchUp(setting)
    outbox().advanceClock(DAY)
    hook.slowDown()
    await fallBehind(setting)
    await until('the mail of the next day', () => count(mails) === 2)
    await catchUp(setting)
    expect(count(mails)).toBe(2)
  })

  test('that is switched off is behind no more', async () => {
    const setting = await setUp()
    const { workspace, channel, growing } = setting
    await fallBehind(setting)
    await workspace.patch(`/channels/${channel.id}`, { enabled: false })
    expect((await read(workspace, channel.id)).behindSince).toBeNull()
    await until('the metric', () => growing() === 0)
    setting.hook.hurry()
  })
})
