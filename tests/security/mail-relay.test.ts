// Nobody sends mail to strangers through this server: recipients confirm first, mails are counted, and texts of strangers
// stay out of subjects (docs/contract.md §16).

import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { closeMailers } from '../../server/http/mail/smtp.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { fetchMetrics, sumSamples } from '../support/read-metrics.ts'
import { quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createTeam, type Team } from '../support/users/signed-in-user.ts'
import { ENGINES, startServer, type TestServer } from '../support/world.ts'

setDefaultTimeout(120_000)

const smtp = await startMailServer()
afterAll(async () => {
  closeMailers()
  await smtp.stop()
})

const HOUR = 60 * 60_000
const QUESTION = 'Test wants to send you form submissions'

describe.each(ENGINES)('mail (%s)', (engine) => {
  let server: TestServer
  let team: Team

  async function start(environment: Record<string, string> = {}) {
    smtp.mails.length = 0
    server = await startServer(engine, {
      environment: { SMTP_URL: smtp.url(), MAIL_FROM: 'Towpath <go@towpath.example>', ...environment },
    })
    team = await createTeam(server)
  }
  afterEach(() => server.close())

  const post = (path: string, body?: object) => team.api(path, { method: 'POST', body: body ?? {} })
  async function createChannel(...to: string[]) {
    const { status, json, text } = await post('/channels', { type: 'email', name: 'Team', to })
    if (status !== 201) throw new Error(text)
    return json.data as { id: number; unconfirmed: string[] }
  }
  const readChannel = async (id: number) => (await team.api(`/channels/${id}`)).json.data
  async function createForm(channelId: number) {
    const { json } = await post('/forms', { name: 'Boats\r\nBcc: eve@evil.example', channelIds: [channelId] })
    return json.data.formKey as string
  }
  const submit = async (formKey: string) => {
    const body = { email: 'ada@example.com', message: 'Buy now' }
    expect((await server.call(`/f/${formKey}`, { method: 'POST', body })).status).toBe(200)
  }
  const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email))
  const tokenFor = async (email: string) => {
    const mail = await until('the question', () => mailsTo(email)[0])
    return decodeURIComponent(/token=(\S+)/.exec(mail.parsed.text ?? '')?.[1] ?? '')
  }
  const choose = (action: 'confirm' | 'stop', token: string, email?: string) =>
    server.call(`/api/mail/${action}`, { method: 'POST', body: { token, ...(email && { email }) } })
  const listDeliveries = async () => (await team.api('/deliveries')).json.data

  describe('to recipients', () => {
    beforeEach(() => start())

    quick('is one question, and nothing else before they confirm', async () => {
      const channel = await createChannel('Stranger@people.example')
      expect(channel.unconfirmed).toEqual(['Stranger@people.example'])
      const form = await createForm(channel.id)
      await submit(form)
      const token = await tokenFor('Stranger@people.example')
      // More channels and changes ask nobody twice.
      await createChannel('stranger@people.example')
      await team.api(`/channels/${channel.id}`, { method: 'PATCH', body: { name: 'Renamed' } })
      // A mail scanner opens the link.
      const seen = await server.call(`/api/mail/recipient?token=${encodeURIComponent(token)}`)
      expect(seen.json).toEqual({
        workspace: 'Test',
        recipients: [{ email: 'stranger@people.example', state: 'unconfirmed' }],
      })
      await until('the delivery waits', async () => {
        const row = await server.app.db.read
          .selectFrom('channels')
          .select('paused_until')
          .where('id', '=', channel.id)
          .where('workspace_id', '=', team.id)
          .executeTakeFirstOrThrow()
        return row.paused_until !== null
      })
      expect(await listDeliveries()).toMatchObject([{ status: 'waiting', attemptCount: 0 }])
      expect(smtp.mails.map(({ parsed }) => parsed.subject)).toEqual([QUESTION])
      const [question] = smtp.mails
      expect(question?.parsed.from).toMatchObject({ name: 'Test', address: 'go@towpath.example' })
      expect(question?.parsed.text).toContain(
        'Test would like to email you when someone submits one of its forms.',
      )

      expect((await choose('confirm', token)).status).toBe(200)
      const sent = await until('the notification', () => smtp.mails[1])
      expect(sent.to).toEqual(['Stranger@people.example'])
      expect(sent.parsed.subject).toBe('Boats Bcc: eve@evil.example: ada@example.com')
      expect(sent.parsed.from?.name).toBe('Towpath')
      expect(sent.parsed.bcc ?? []).toEqual([])
      expect((await readChannel(channel.id)).unconfirmed).toEqual([])
    })

    test('goes to those who have confirmed, and not to the others', async () => {
      const channel = await createChannel('a@people.example', 'b@people.example')
      await choose('confirm', await tokenFor('a@people.example'))
      await tokenFor('b@people.example')
      await submit(await createForm(channel.id))
      await until('it is delivered', async () => (await listDeliveries())[0]?.status === 'delivered')
      expect(mailsTo('a@people.example')).toHaveLength(2)
      expect(mailsTo('b@people.example')).toHaveLength(1)
      expect((await readChannel(channel.id)).unconfirmed).toEqual(['b@people.example'])
    })

    test('ends with the link in each mail, and starts again by the person only', async () => {
      const channel = await createChannel('a@people.example')
      await choose('confirm', await tokenFor('a@people.example'))
      const form = await createForm(channel.id)
      await submit(form)
      const mail = await until('the notification', () => mailsTo('a@people.example')[1])
      const header = (name: string) => mail.parsed.headers.find(({ key }) => key === name)?.value
      expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
      const oneClick = new URL((header('list-unsubscribe') ?? '').slice(1, -1))
      // The body of a mail program's one-click request (RFC 8058 §3.2).
      const stopped = await server.call(oneClick.pathname + oneClick.search, {
        method: 'POST',
        body: 'List-Unsubscribe=One-Click',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      })
      expect(stopped.status).toBe(200)
      expect(await readChannel(channel.id)).toMatchObject({ unconfirmed: [], stopped: ['a@people.example'] })
      await submit(form)
      const again = await post(`/channels/${channel.id}/ask-recipients`)
      expect([again.status, again.json.data]).toEqual([200, { mailed: 0 }])
      expect((await post(`/channels/${channel.id}/test`)).json.data).toMatchObject({ status: 'failed' })
      expect(mailsTo('a@people.example')).toHaveLength(2)
    })

    test('needs no confirmation of a member with a proven address', async () => {
      const { email } = team.member
      expect((await createChannel(email)).unconfirmed).toEqual([email])
      await server.app.db.write((connection) =>
        connection.updateTable('users').set({ email_verified: 1 }).where('email', '=', email).execute(),
      )
      const channel = await createChannel(email.toUpperCase())
      expect(channel.unconfirmed).toEqual([])
      // The address is a stranger to other workspaces.
      const other = await server.createWorkspace()
      const body = { type: 'email', name: 'Team', to: [email] }
      const made = await other.api('/channels', { method: 'POST', body })
      expect(made.json.data.unconfirmed).toEqual([email])
    })

    test('is asked for again three times a day for one address, from all workspaces together', async () => {
      const channel = await createChannel('a@people.example')
      await tokenFor('a@people.example')
      const statuses = []
      for (let i = 0; i < 4; i++) statuses.push((await post(`/channels/${channel.id}/ask-recipients`)).status)
      expect(statuses).toEqual([200, 200, 429, 429])
      const other = await server.createWorkspace()
      const body = { type: 'email', name: 'Team', to: ['a@people.example', 'marker@people.example'] }
      await other.api('/channels', { method: 'POST', body })
      await tokenFor('marker@people.example')
      expect(mailsTo('a@people.example')).toHaveLength(3)
    })

    test('is confirmed by links of this server only, and for their workspace only', async () => {
      const channel = await createChannel('a@people.example')
      const token = await tokenFor('a@people.example')
      for (const forged of ['', 'x', `${token}x`, token.slice(0, -4), `${token.slice(0, -4)}AAAA`]) {
        const { status } = await choose('confirm', forged)
        expect([forged, status === 404 || status === 422]).toEqual([forged, true])
      }
      expect((await choose('confirm', token, 'b@people.example')).status).toBe(404)
      const crossSite = await server.call('/api/mail/confirm', {
        method: 'POST',
        body: { token },
        headers: { 'Sec-Fetch-Site': 'cross-site' },
      })
      expect(crossSite.status).toBe(403)
      expect((await readChannel(channel.id)).unconfirmed).toEqual(['a@people.example'])
    })

    test('is given up when nobody confirms for four days', async () => {
      const channel = await createChannel('a@people.example')
      // A question that came later would be taken for that of the next test.
      await tokenFor('a@people.example')
      await submit(await createForm(channel.id))
      await until('it waits', async () => (await listDeliveries())[0]?.status === 'waiting')
      server.advanceClock(4 * 24 * HOUR)
      await until('it failed', async () => (await listDeliveries())[0]?.status === 'failed')
      const [{ id }] = await listDeliveries()
      const { attempts } = (await team.api(`/deliveries/${id}`)).json.data
      expect(attempts[0].answer).toContain('No recipient of this channel has confirmed')
      expect((await readChannel(channel.id)).enabled).toBe(true)
    })
  })

  describe('above MAIL_PER_DAY', () => {
    beforeEach(() => start({ MAIL_PER_DAY: '3' }))

    quick(
      'is not sent: invitations say so, notifications wait for the next day, and metrics tell',
      async () => {
        const channel = await createChannel('a@people.example')
        expect((await choose('confirm', await tokenFor('a@people.example'))).status).toBe(200)
        const invite = (email: string) =>
          team.owner.apiIn(team.id, '/invitations', { method: 'POST', body: { email } })
        expect((await invite('one@people.example')).status).toBe(201)
        expect((await invite('two@people.example')).status).toBe(201)
        const refused = await invite('three@people.example')
        expect([refused.status, refused.json.error]).toEqual([
          429,
          'This server has sent all its emails for today. Invite people tomorrow, or ask the operator.',
        ])
        await submit(await createForm(channel.id))
        await until('the metric', async () => {
          const metrics = await fetchMetrics(server.origin)
          const [refusals, sent] = ['towpath_mails_refused_total', 'towpath_mails_sent_today'].map((name) =>
            sumSamples(metrics, name),
          )
          return Number(refusals) >= 2 && sent === 3
        })
        expect(smtp.mails).toHaveLength(3)
        // The deliverer counts an attempt when it begins, and takes it back when nothing was sent.
        await until('it waits', async () => (await listDeliveries())[0]?.attemptCount === 0)
        expect(await listDeliveries()).toMatchObject([{ status: 'waiting', attemptCount: 0 }])
        server.advanceClock(24 * HOUR)
        await until('it is delivered', async () => (await listDeliveries())[0]?.status === 'delivered')
        expect(smtp.mails).toHaveLength(4)
      },
    )
  })
})
