// The email to owners about a disabled channel, over a real mail server, for a receiver that really answers 410.

import { afterEach, expect, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import {
  type HarnessWorkspace,
  notificationsOnBothEngines,
} from '../../../../tests/support/notification-harness.ts'
import { until } from '../../../../tests/support/until.ts'
import { closeMailers } from '../../../http/mail/smtp.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  closeMailers()
  for (const end of ends.splice(0).reverse()) await end()
})

let people = 0

notificationsOnBothEngines('a channel that is switched off by itself', (outbox) => {
  /** Nothing is delivered before the test says so. */
  async function quietWorkspace() {
    await outbox().deliverer?.close()
    return outbox().createWorkspace()
  }

  async function person(workspace: HarnessWorkspace, role: 'owner' | 'member') {
    const email = `person${people++}@example.com`
    await outbox().db.write(async (connection) => {
      const at = { created_at: 1, updated_at: 1 }
      const { id } = await connection
        .insertInto('users')
        .values({ email, name: 'Somebody', image: null, founder: null, ...at })
        .returning('id')
        .executeTakeFirstOrThrow()
      await connection
        .insertInto('members')
        .values({ workspace_id: workspace.id, user_id: id, role, created_at: 1 })
        .execute()
    })
    return email
  }

  async function mailServer() {
    const server = await startMailServer()
    ends.push(server.stop)
    const { send } = outbox().needs
    return { ...server, send: { ...send, smtpUrl: server.url(), mailFrom: 'Towpath <towpath@example.com>' } }
  }

  const gone = () => outbox().startReceiver(() => new Response('gone', { status: 410 }))

  const isOff = (workspace: HarnessWorkspace, id: number) =>
    until('it is off', async () => !(await workspace.api(`/channels/${id}`)).json.data.enabled)
  const words = async (workspace: HarnessWorkspace) =>
    (await workspace.listDeliveries()).filter(({ event }) => event === 'channel.disabled')
  const told = (workspace: HarnessWorkspace, status = 'delivered') =>
    until('word', async () => (await words(workspace)).some((each) => each.status === status))

  test('each owner gets one mail that names the channel, the reason and the next step', async () => {
    const { mails, send } = await mailServer()
    const workspace = await quietWorkspace()
    const owners = [await person(workspace, 'owner'), await person(workspace, 'owner')]
    await person(workspace, 'member')
    await workspace.createMailChannel({ name: 'Team', to: ['team@example.com'] })
    const hook = gone()
    const channel = await workspace.createWebhook(hook.url, { name: 'CRM' })
    const form = await workspace.createForm([channel.id])
    await workspace.submit(form, 5)
    await outbox().startDeliverer({ send })
    await isOff(workspace, channel.id)
    await told(workspace)
    // Another one's submission has been delivered since: there is nothing more to come.
    await outbox().deliverer?.close()
    await (await outbox().startDeliverer({ send })).close()
    expect(mails).toHaveLength(1)
    const [{ to, parsed }] = mails as [(typeof mails)[0]]
    expect(to.sort()).toEqual(owners.sort())
    expect(parsed.subject).toBe('A notification channel was turned off')
    expect(parsed.from).toMatchObject({ name: 'Towpath', address: 'towpath@example.com' })
    for (const said of [
      'CRM (webhook)',
      'The receiver answered 410 Gone: it accepts no more webhooks',
      'turn the channel on again: the 5 notifications that wait for it are sent.',
      `https://go.example/app/${workspace.id}/notifications?edit=${channel.id}`,
    ]) {
      expect(parsed.text?.replaceAll(/\s+/g, ' ')).toContain(said)
    }
    expect(parsed.html).not.toContain('undefined')
    expect(await words(workspace)).toMatchObject([
      { channelId: channel.id, submissionId: null, status: 'delivered', attemptCount: 1 },
    ])
    expect((await workspace.api(`/deliveries?status=waiting&channelId=${channel.id}`)).json.total).toBe(5)
  })

  test('without accounts, the recipients of email channels get the mail', async () => {
    const { mails, send } = await mailServer()
    const workspace = await quietWorkspace()
    await workspace.createMailChannel({ name: 'Team', to: ['team@example.com'] })
    await workspace.createMailChannel({ name: 'Off', to: ['off@example.com'], enabled: false })
    const channel = await workspace.createWebhook(gone().url)
    await workspace.submit(await workspace.createForm([channel.id]))
    await outbox().startDeliverer({ send })
    await told(workspace)
    expect(mails.map(({ to }) => to)).toEqual([['team@example.com']])
  })

  test('the mail is sent when the mail server is back', async () => {
    const server = await startMailServer()
    await server.stop()
    const port = Number(new URL(server.url()).port)
    const workspace = await quietWorkspace()
    const owner = await person(workspace, 'owner')
    const channel = await workspace.createWebhook(gone().url)
    await workspace.submit(await workspace.createForm([channel.id]))
    const { send } = outbox().needs
    await outbox().startDeliverer({
      send: { ...send, smtpUrl: server.url(), mailFrom: 'towpath@example.com' },
    })
    await until('an attempt', async () =>
      (await words(workspace)).some(
        ({ status, nextAttemptAt }) => status === 'waiting' && Date.parse(nextAttemptAt) > outbox().now(),
      ),
    )
    const back = await startMailServer({ port })
    ends.push(back.stop)
    outbox().advanceClock(60_000)
    await told(workspace)
    expect(back.mails.map(({ to }) => to)).toEqual([[owner]])
  })

  test.each(['on again', 'without mail'])('nobody gets a mail when the channel is: %s', async (how) => {
    const { mails, send } = await mailServer()
    const workspace = await quietWorkspace()
    await person(workspace, 'owner')
    const hook = gone()
    const channel = await workspace.createWebhook(hook.url)
    await workspace.submit(await workspace.createForm([channel.id]))
    if (how === 'on again') {
      await outbox().db.write((connection) =>
        connection
          .insertInto('deliveries')
          .values({
            workspace_id: workspace.id,
            channel_id: channel.id,
            event: 'channel.disabled',
            message_id: `msg_${workspace.id}`,
            status: 'waiting',
            due_at: 1,
            created_at: 1,
          })
          .execute(),
      )
      hook.respondWith(() => new Response('ok'))
      await outbox().startDeliverer({ send })
    } else {
      await outbox().startDeliverer()
      await isOff(workspace, channel.id)
    }
    await until('nothing to say', async () => (await words(workspace)).length === 0)
    expect(mails).toEqual([])
  })
})

notificationsOnBothEngines('a mail server', (outbox) => {
  test('that refuses the password disables no channel, and all mail arrives after the fix', async () => {
    const server = await startMailServer({ password: 'right' })
    ends.push(server.stop)
    const workspace = await outbox().createWorkspace()
    const ids: number[] = []
    for (const to of ['a@example.com', 'b@example.com'])
      ids.push((await workspace.createMailChannel({ name: to, to: [to] })).json.data.id)
    const form = await workspace.createForm(ids)
    const { send } = outbox().needs
    const with_ = (password: string) => ({
      send: { ...send, smtpUrl: server.url(`towpath:${password}@`), mailFrom: 'towpath@example.com' },
    })
    await outbox().startDeliverer(with_('wrong'))
    await workspace.submit(form)
    const enabled = async () => {
      const { data } = (await workspace.api('/channels')).json
      return data.map((each: { enabled: boolean; disabledReason: unknown }) => [
        each.enabled,
        each.disabledReason,
      ])
    }
    const attempts = (least: number) =>
      until(`${least} attempts`, async () =>
        (await workspace.listDeliveries()).every(
          ({ attemptCount, nextAttemptAt }) =>
            attemptCount >= least && Date.parse(nextAttemptAt) > outbox().now(),
        ),
      )
    for (const least of [1, 2, 3, 4]) {
      await attempts(least)
      // Six days in all: longer than a channel may do nothing but fail.
      outbox().advanceClock(36 * 60 * 60_000)
    }
    await attempts(5)
    expect(await enabled()).toEqual([
      [true, null],
      [true, null],
    ])
    const [{ id }] = await workspace.listDeliveries()
    const [{ outcome, answer }] = (await workspace.api(`/deliveries/${id}`)).json.data.attempts
    expect([outcome, answer]).toEqual([
      'refused',
      'The mail server did not accept the user name and password of this server, ' +
        'which its operator has to mend: 535 5.7.8 Authentication failed',
    ])
    await outbox().startDeliverer(with_('right'))
    outbox().advanceClock(36 * 60 * 60_000)
    await until('all mail', () => server.mails.length === 2)
    expect(server.mails.flatMap(({ to }) => to).sort()).toEqual(['a@example.com', 'b@example.com'])
  })

  test('that refuses a recipient fails the delivery permanently', async () => {
    const server = await startMailServer()
    ends.push(server.stop)
    const workspace = await outbox().createWorkspace()
    const gone = await workspace.createMailChannel({ name: 'Gone', to: ['gone@example.com'] })
    const form = await workspace.createForm([gone.json.data.id])
    const { send } = outbox().needs
    await outbox().startDeliverer({
      send: { ...send, smtpUrl: server.url(), mailFrom: 'towpath@example.com' },
    })
    await workspace.submit(form)
    await until('it failed', async () => (await workspace.listDeliveries())[0].status === 'failed')
    const [{ id }] = await workspace.listDeliveries()
    expect((await workspace.api(`/deliveries/${id}`)).json.data).toMatchObject({
      attemptCount: 1,
      attempts: [{ outcome: 'refused', answer: expect.stringContaining('550 5.1.1 User unknown') }],
    })
  })
})
