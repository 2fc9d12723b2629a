// Digests and quiet hours: their content, their time, and their guarantees when the receiver fails or the process ends.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { notificationsOnBothEngines } from '../../../../tests/support/notification-harness.ts'
import { until } from '../../../../tests/support/until.ts'
import { closeMailers } from '../../../http/mail/smtp.ts'
import type { ChannelSender } from '../channels/contract.ts'
import { readDigestContent } from './digest-content.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOON = Date.parse('2027-05-10T12:00:00Z')

/** Workspaces of both engines have the same ids. */
let teams = 0
let mail: Awaited<ReturnType<typeof startMailServer>>
beforeAll(async () => {
  mail = await startMailServer()
})
afterAll(async () => {
  closeMailers()
  await mail.stop()
})

notificationsOnBothEngines('a digest', (outbox) => {
  const start = (email?: ChannelSender) => {
    const { send, senders } = outbox().needs
    return outbox().startDeliverer({
      send: { ...send, smtpUrl: mail.url(), mailFrom: 'towpath@example.com' },
      senders: email ? { ...senders, email } : senders,
    })
  }
  const setClock = (at: number) => outbox().advanceClock(at - outbox().now())

  async function newMailChannel(settings: Record<string, unknown>) {
    const workspace = await outbox().createWorkspace()
    const to = `team-${++teams}@example.com`
    const { json } = await workspace.createMailChannel({ name: 'Team', to: [to], ...settings })
    expect(json.errors).toBeUndefined()
    const form = await workspace.createForm([json.data.id])
    return {
      workspace,
      form,
      channelId: json.data.id as number,
      mails: () => mail.mails.filter((each) => each.to[0] === to),
    }
  }
  /** Another channel without a digest gets its mail: the deliverer has looked at what was due. */
  async function aTurn() {
    const other = await newMailChannel({})
    await other.workspace.submit(other.form)
    await until('another mail', () => other.mails().length === 1)
  }

  test('sends one mail for all submissions of an hour at its end, and all of them are delivered', async () => {
    setClock(NOON + 10 * MINUTE)
    await start()
    const { workspace, form, channelId, mails } = await newMailChannel({ digest: 'hour' })
    const ids = await workspace.submit(form, 3)
    const [waiting] = await workspace.listDeliveries()
    expect(waiting).toMatchObject({ status: 'waiting', nextAttemptAt: '2027-05-10T13:00:00.000Z' })
    await aTurn()
    expect(mails()).toEqual([])
    setClock(NOON + HOUR)
    await until('the digest', () => mails().length === 1)
    const [received] = mails()
    expect(received?.parsed.subject).toBe('Contact: 3 new submissions')
    expect(received?.parsed.text).toStartWith('3 new submissions to Contact\n')
    for (const n of [1, 2, 3]) expect(received?.parsed.text).toContain(`Contact: #${n}:\n`)
    expect(received?.parsed.text).toContain('message: Hello 2')
    expect(received?.parsed.text).toContain(`https://go.example/app/${workspace.id}/inbox\n`)
    const all = await workspace.untilAllAre('delivered')
    const digest = all.find(({ event }) => event === 'submission.digest')
    expect(all.map(({ submissionId, digestId }) => [submissionId, digestId])).toEqual([
      ...ids.map((id) => [id, digest.id]),
      [null, null],
    ])
    const { json } = await workspace.api(`/deliveries/${all[0].id}`)
    expect(json.data.attempts).toMatchObject([{ outcome: 'delivered' }])
    const channel = (await workspace.api(`/channels/${channelId}`)).json.data
    expect([channel.waiting, channel.digest]).toEqual([0, 'hour'])
  })

  test('of one submission is a notification that can be answered', async () => {
    setClock(NOON + 2 * HOUR)
    await start()
    const { workspace, form, mails } = await newMailChannel({ digest: 'hour' })
    const [id] = await workspace.submit(form)
    await outbox().db.write((connection) =>
      connection
        .updateTable('submissions')
        .set({ email: 'ada@example.com' })
        .where('id', '=', id as number)
        .execute(),
    )
    setClock(NOON + 3 * HOUR)
    await until('the mail', () => mails().length === 1)
    expect(mails()[0]?.parsed).toMatchObject({
      subject: 'Contact: ada@example.com',
      replyTo: [{ address: 'ada@example.com' }],
    })
  })

  test('lists 100 submissions and counts the others', async () => {
    setClock(NOON + 4 * HOUR)
    await start()
    const { workspace, form, mails } = await newMailChannel({ digest: 'hour' })
    await workspace.submit(form, 250)
    const counted = (await workspace.api('/channels')).json.data[0]
    expect(counted.waiting).toBe(250)
    setClock(NOON + 5 * HOUR)
    await until('the digest', () => mails().length === 1)
    const text = mails()[0]?.parsed.text ?? ''
    expect(text.match(/^Contact: #\d+:$/gm)?.length).toBe(100)
    expect(text).toContain('Contact: #100:')
    expect(text).toContain('… 150 more submissions')
    expect(mails()[0]?.parsed.subject).toBe('Contact: 250 new submissions')
    expect((await workspace.untilAllAre('delivered')).length).toBe(251)
    expect(mails().length).toBe(1)
  })

  test('keeps its id and its submissions over retries, and what comes later has a digest of its own', async () => {
    setClock(NOON + 6 * HOUR)
    const { workspace, form, channelId } = await newMailChannel({ digest: 'hour' })
    const sent: { messageId: string; fields: number }[] = []
    let refuses = true
    const email: ChannelSender = async (_, __, { messageId, fields }) => {
      sent.push({ messageId, fields: fields.size })
      return refuses
        ? { outcome: 'refused', httpStatus: null, answer: 'not now' }
        : { outcome: 'delivered', httpStatus: null, answer: null }
    }
    await start(email)
    await workspace.submit(form, 2)
    setClock(NOON + 7 * HOUR)
    await until('the first attempt', () => sent.length === 1)
    await until('its record', async () => (await workspace.listDeliveries())[0].lastError !== null)
    const [first] = await workspace.listDeliveries()
    expect(first).toMatchObject({ status: 'waiting', lastError: expect.any(String), attemptCount: 0 })
    expect((await workspace.api(`/channels/${channelId}`)).json.data.waiting).toBe(2)
    await workspace.submit(form, 3)
    refuses = false
    setClock(NOON + 8 * HOUR)
    await workspace.untilAllAre('delivered')
    const ids = sent.map(({ messageId }) => messageId)
    expect(sent.map(({ fields }) => fields).toSorted()).toEqual([2, 2, 3])
    expect(new Set(ids).size).toBe(2)
    expect(ids[0]).toBe(ids[sent.findIndex(({ fields }, i) => i > 0 && fields === 2)] as string)
  })

  test('fails as a whole, and is sent again as a whole; one of it is sent again alone', async () => {
    setClock(NOON + 9 * HOUR)
    await start()
    const { workspace, form, mails } = await newMailChannel({ digest: 'hour' })
    await workspace.submit(form, 2)
    const permanent = { what: 'message', reason: 'too large' } as const
    await start(async () => ({ outcome: 'refused', httpStatus: null, answer: 'too large', permanent }))
    setClock(NOON + 10 * HOUR)
    const failed = await workspace.untilAllAre('failed')
    expect(failed.map(({ lastError }) => lastError)).toEqual(failed.map(() => expect.any(String)))
    await start()
    const { json } = await workspace.post('/deliveries/retry', { since: '2026-01-01T00:00:00Z' })
    expect(json).toEqual({ data: { retried: 1 } })
    await until('the digest', () => mails().length === 1)
    await workspace.untilAllAre('delivered')
    const [one] = await workspace.listDeliveries()
    await workspace.post(`/deliveries/${one.id}/retry`)
    await until('the submission alone', () => mails().length === 2)
    expect(mails()[1]?.parsed.subject).toBe('Contact: submission #1')
    expect(mails()[1]?.parsed.messageId).toContain(one.messageId)
    const digest = failed.find(({ event }) => event === 'submission.digest')
    await workspace.post(`/deliveries/${digest.id}/retry`)
    await until('the digest again', () => mails().length === 3)
    // Without the one that was sent alone.
    expect(mails()[2]?.parsed.subject).toBe('Contact: submission #2')
    await workspace.untilAllAre('delivered')
  })

  test('waits no longer when it is switched off, and waits for another time when that changes', async () => {
    setClock(NOON + 11 * HOUR)
    await start()
    const { workspace, form, channelId, mails } = await newMailChannel({ digest: 'day' })
    await workspace.submit(form, 2)
    const due = async () => (await workspace.listDeliveries()).map(({ nextAttemptAt }) => nextAttemptAt)
    expect(await due()).toEqual(Array(2).fill('2027-05-11T08:00:00.000Z'))
    const change = (body: object) => workspace.patch(`/channels/${channelId}`, body)
    await change({ digest: 'hour' })
    expect(await due()).toEqual(Array(2).fill('2027-05-11T00:00:00.000Z'))
    await change({ name: 'Other' })
    expect(await due()).toEqual(Array(2).fill('2027-05-11T00:00:00.000Z'))
    await change({ digest: null })
    await until('both mails', () => mails().length === 2)
    expect((await workspace.untilAllAre('delivered')).length).toBe(2)
  })

  test('says nothing of submissions that were erased, and is not sent when none is left', async () => {
    setClock(NOON + 12 * HOUR)
    const { workspace, form, mails } = await newMailChannel({ digest: 'hour' })
    const [gone, kept, also] = (await workspace.submit(form, 3)) as [number, number, number]
    await workspace.delete(`/submissions/${gone}`)
    await start()
    setClock(NOON + 13 * HOUR)
    await until('the digest', () => mails().length === 1)
    expect(mails()[0]?.parsed.text).not.toContain(`#${gone} `)
    await workspace.untilAllAre('delivered')
    // The sent text is not kept beside the submission.
    const [{ digestId }] = await workspace.listDeliveries()
    const readRequest = async () => (await workspace.api(`/deliveries/${digestId}`)).json.data.request
    expect((await readRequest()).body).toContain('Hello 1')
    await workspace.delete(`/submissions/${kept}`)
    expect(await readRequest()).toBeNull()
    await workspace.delete(`/submissions/${also}`)
    const target = { id: digestId, workspaceId: workspace.id, template: null }
    expect(
      await readDigestContent({ ...outbox().needs, origin: 'https://go.example' }, target),
    ).toBeUndefined()
  })

  test('has each submission in the words of the template', async () => {
    setClock(NOON + 14 * HOUR)
    await start()
    const template = { subject: '{{field:message}}', text: 'They say "{{field:message}}".' }
    const { workspace, form, mails } = await newMailChannel({ digest: 'hour', template })
    await workspace.submit(form, 2)
    setClock(NOON + 15 * HOUR)
    await until('the digest', () => mails().length === 1)
    expect(mails()[0]?.parsed.subject).toBe('Contact: 2 new submissions')
    expect(mails()[0]?.parsed.text).toContain('They say "Hello 1".')
  })

  test('waits in quiet hours, and so do single notifications and retries; the test button does not', async () => {
    const night = Date.parse('2027-05-12T20:30:00Z')
    setClock(night)
    await start()
    const quietHours = { start: '22:00', end: '07:00', timezone: 'Europe/Berlin' }
    const { workspace, form, channelId, mails } = await newMailChannel({ quietHours })
    await workspace.submit(form)
    expect((await workspace.listDeliveries())[0].nextAttemptAt).toBe('2027-05-13T05:00:00.000Z')
    expect((await workspace.post(`/channels/${channelId}/test`)).status).toBe(200)
    await aTurn()
    expect(mails().map(({ parsed }) => parsed.subject)).toEqual([])
    setClock(Date.parse('2027-05-13T05:00:00Z'))
    await until('the mail', () => mails().length === 1)
  })

  const night = (start: string, end: string, timezone = 'UTC') => ({ quietHours: { start, end, timezone } })

  test.each([{ template: { text: '{{form}}' } }, { digest: 'hour' }, night('22:00', '07:00')])(
    'is not for webhooks: %j',
    async (setting) => {
      const workspace = await outbox().createWorkspace()
      const body = { type: 'webhook', name: 'Hook', url: 'https://hook.example/', ...setting }
      const { status, json } = await workspace.post('/channels', body)
      const errors = { [Object.keys(setting)[0] as string]: 'is not for channels of type webhook' }
      expect([status, json.errors]).toEqual([422, errors])
    },
  )

  test.each([
    [{ digest: 'week' }, 'digest', 'must be one of hour, day'],
    [night('24:00', '07:00'), 'quietHours.start', 'must be a time such as 22:00'],
    [night('07:00', '07:00'), 'quietHours.end', 'must be another time than the start'],
    [
      night('22:00', '07:00', 'Berlin'),
      'quietHours.timezone',
      'must be an IANA time zone such as Europe/Berlin',
    ],
    [{ template: { text: '{{who}}' } }, 'template.text', 'has the unknown placeholder {{who}}; known are'],
    [{ template: { subject: 'x' } }, 'template.text', 'is required'],
  ])('refuses %j', async (setting, field, mistake) => {
    const workspace = await outbox().createWorkspace()
    const mail = { name: 'Team', to: ['a@example.com'], ...setting }
    const { status, json } = await workspace.createMailChannel(mail)
    expect([status, json.errors]).toEqual([422, { [field]: expect.stringContaining(mistake) }])
  })
})
