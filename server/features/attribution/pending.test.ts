// A submission reads `pending` while nobody knows which link brought it. The tests pause the hit worker, which answers
// queries about clicks, and let it continue later.

import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { startMailServer } from '../../../tests/support/fake-servers/mail-server.ts'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../tests/support/fake-servers/webhook-receiver.ts'
import { nextSenderAddress } from '../../../tests/support/form-requests.ts'
import { findFreePort } from '../../../tests/support/processes/free-port.ts'
import { quick } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import {
  BROWSER_USER_AGENT,
  onBothEngines,
  type TestServer,
  type TestWorkspace,
} from '../../../tests/support/world.ts'

const MAIL_PORT = findFreePort()
/** A busy machine may need longer than the two seconds that an API answer waits. */
const LATER_MS = 25_000

let mail: Awaited<ReturnType<typeof startMailServer>>
let hooks: WebhookReceiver
beforeAll(async () => {
  mail = await startMailServer({ port: MAIL_PORT })
  hooks = startWebhookReceiver()
})
afterAll(async () => {
  await mail?.stop()
  await hooks?.stop()
})

async function newChannels(server: TestServer, { id, api }: TestWorkspace, owner: string): Promise<number[]> {
  const [created_at, confirmed_at] = [server.now(), server.now()]
  await server.insert('mail_recipients', { workspace_id: id, email: owner, confirmed_at, created_at })
  const channels = [
    { type: 'webhook', name: 'Hook', url: hooks.url },
    { type: 'email', name: 'Mail', to: [owner] },
  ]
  const made = await Promise.all(channels.map((body) => api('/channels', { method: 'POST', body })))
  return made.map(({ json }) => json.data.id)
}

/** Reads the table, because every answer of the API would try to decide. */
const countUndecided = async (server: TestServer, { id }: TestWorkspace) =>
  (await server.rows('submissions', { workspace_id: id, attribution_due: 1 })).length

describe('while clicks cannot be queried', () => {
  onBothEngines(
    'a submission',
    (server) => {
      quick(
        'is pending in every answer and notification, and is decided later without a request',
        async () => {
          const workspace = await server().createWorkspace()
          const { api } = workspace
          const link = await workspace.createLink()
          const owner = `${server().engine}@example.com`
          const channelIds = await newChannels(server(), workspace, owner)
          const made = await api('/forms', { method: 'POST', body: { name: 'Contact', channelIds } })
          const { formKey } = made.json.data
          const clicker = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': nextSenderAddress() }
          const stranger = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': nextSenderAddress() }
          await server().click(link.slug, clicker)
          await server().waitUntilShipped()
          server().pauseHitWorker()

          const w = workspace.publicId
          const view = JSON.stringify({ w, u: 'https://shop.example/?utm_source=news', r: '' })
          const seen = await server().post('/e', view, clicker)
          for (const [headers, eventId] of [
            [stranger, ''],
            [clicker, seen.json.e],
          ]) {
            const body = { email: 'jo@example.com', _service_eid: eventId }
            const sent = await server().post(`/f/${formKey}`, body, headers)
            expect([sent.status, sent.json]).toEqual([200, { ok: true }])
          }

          const list = async (query = '') => (await api(`/forms/${formKey}/submissions${query}`)).json
          const attributions = async (query = '') =>
            (await list(query)).data.map(({ attribution }: { attribution: string }) => attribution)
          expect(await attributions()).toEqual(['pending', 'pending'])
          const [newest] = (await list()).data
          expect(newest).toMatchObject({ linkId: null, clickId: null, sessionLinked: true })
          expect((await api(`/submissions/${newest.id}`)).json.data).toEqual(newest)
          expect((await list('?attribution=pending')).total).toBe(2)
          expect((await list('?attribution=none')).total).toBe(0)
          const [touch] = (await api(`/submissions/${newest.id}/attribution`)).json.data
          expect(touch).toMatchObject({ type: 'campaign', utmSource: 'news' })
          expect(touch.why).toEndWith('Attribution is pending: analytics are catching up.')

          const file = async (format: string) =>
            (await api(`/forms/${formKey}/submissions/export?format=${format}`)).text.trim()
          expect(JSON.parse(await file('json')).data).toEqual((await list()).data.reverse())
          for (const line of (await file('ndjson')).split('\n')) {
            expect(JSON.parse(line)).toMatchObject({ attribution: 'pending' })
          }
          const [header = '', ...lines] = (await file('csv')).split('\r\n')
          const column = header.split(',').indexOf('attribution')
          expect(lines.map((line) => line.split(',')[column])).toEqual(['pending', 'pending'])

          const leads = async (query: string) => (await api(`/analytics/leads${query}`)).json.data
          expect(await leads('')).toMatchObject({ leads: 2 })
          expect(await leads('?groupBy=link')).toEqual([])
          expect(await leads('?groupBy=slug')).toEqual([])
          for (const filter of ['linkId=0', 'linkId=-0', `linkId=-${link.id}`, `slug=-${link.slug}`]) {
            expect([filter, (await leads(`?${filter}`)).leads]).toEqual([filter, 0])
          }

          const ofForm = () =>
            hooks.requests.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.formKey === formKey)
          await until('the webhooks', () => ofForm().length === 2, LATER_MS)
          for (const { data } of ofForm())
            expect(data).toMatchObject({ attribution: 'pending', linkId: null })
          const mails = () => mail.mails.filter(({ to }) => to.includes(owner))
          await until('the mails', () => mails().length === 2, LATER_MS)
          for (const { parsed } of mails()) {
            expect(parsed.text).toContain('Link pending: analytics are catching up')
          }

          expect(await countUndecided(server(), workspace)).toBe(2)
          server().resumeHitWorker()
          await until('a decision', async () => (await countUndecided(server(), workspace)) === 0, LATER_MS)
          expect((await list()).data).toMatchObject([
            { attribution: 'inferred', linkId: link.id },
            { attribution: 'none', linkId: null },
          ])
          expect(await attributions('?attribution=pending')).toEqual([])
          expect(await attributions('?attribution=none')).toEqual(['none'])
          expect(await leads('?groupBy=link')).toMatchObject([
            { link: null, leads: 1 },
            { link: link.id, leads: 1 },
          ])
        },
        90_000,
      )
    },
    {
      environment: {
        TRUST_PROXY: '127.0.0.1/32',
        WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
        SMTP_URL: `smtp://127.0.0.1:${MAIL_PORT}`,
        MAIL_FROM: 'towpath@example.com',
      },
    },
  )
})
