// Reports of channels and deliveries: since when and why a channel fails, who sent what, and what was sent to whom.

import { afterEach, expect, test } from 'bun:test'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import { nextSenderAddress } from '../../../../tests/support/form-requests.ts'
import { openNotificationHarness } from '../../../../tests/support/notification-harness.ts'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines, onSqlite, type TestWorkspace } from '../../../../tests/support/world.ts'
import { createKey } from '../../accounts/access/keys.ts'

const receivers: WebhookReceiver[] = []
afterEach(async () => {
  for (const one of receivers.splice(0)) await one.stop()
})
const receiver = () => {
  const one = startWebhookReceiver()
  receivers.push(one)
  return one
}

const post = ({ api }: TestWorkspace, path: string, body: object = {}) => api(path, { method: 'POST', body })

onBothEngines(
  'a channel that fails',
  (server) => {
    async function setUp(url: string) {
      const workspace = await server().createWorkspace()
      const channel = (await post(workspace, '/channels', { type: 'webhook', name: 'CRM', url })).json.data
      const form = (await post(workspace, '/forms', { name: 'Contact', channelIds: [channel.id] })).json.data
      const { id } = channel
      return {
        workspace,
        id,
        form,
        secret: channel.secret as string,
        read: async () => (await workspace.api(`/channels/${id}`)).json.data,
        deliveries: async (query = '') => (await workspace.api(`/deliveries${query}`)).json.data,
        /** Retries the only delivery by hand. */
        async retry() {
          const [{ id }] = (await workspace.api('/deliveries')).json.data
          expect((await post(workspace, `/deliveries/${id}/retry`)).status).toBe(200)
        },
        async submit(body: Record<string, string>) {
          const headers = { 'X-Forwarded-For': nextSenderAddress() }
          const { status } = await server().post(`/f/${form.formKey}`, body, headers)
          expect(status).toBe(200)
        },
      }
    }

    test('says since when and why, until the first success', async () => {
      const hook = receiver()
      hook.respondWith(() => new Response('not\nnow', { status: 503 }))
      const { read, submit, deliveries, retry } = await setUp(hook.url)
      expect(await read()).toMatchObject({ failingSince: null, lastError: null })
      await submit({ email: 'ada@example.com' })
      const failing = await until('a failure', async () => {
        const channel = await read()
        return channel.failingSince === null ? undefined : channel
      })
      expect(failing).toMatchObject({ enabled: true, lastError: 'HTTP 503: not now', disabledReason: null })
      expect(await deliveries()).toMatchObject([{ status: 'waiting', lastError: 'HTTP 503: not now' }])
      hook.respondWith(() => new Response('', { status: 500 }))
      await retry()
      const later = await until('the next failure', async () => {
        const channel = await read()
        return channel.lastError === 'HTTP 500' ? channel : undefined
      })
      expect(later.failingSince).toBe(failing.failingSince)
      hook.respondWith(() => new Response('ok'))
      await retry()
      await until('a success', async () => (await read()).failingSince === null)
      expect(await read()).toMatchObject({ lastError: null, enabled: true })
      expect(await deliveries()).toMatchObject([{ status: 'delivered', lastError: null, attemptCount: 3 }])
    })

    test('is found out by a test, and works again after a test that arrives', async () => {
      const hook = receiver()
      hook.respondWith(() => new Response('gone', { status: 410 }))
      const { workspace, id, read } = await setUp(hook.url)
      const failed = await post(workspace, `/channels/${id}/test`)
      expect(failed.json.data).toMatchObject({
        status: 'failed',
        lastError: expect.stringContaining('410 Gone'),
      })
      // A test never switches a channel off.
      expect(await read()).toMatchObject({
        enabled: true,
        failingSince: expect.any(String),
        lastError: 'The receiver answered 410 Gone: it accepts no more webhooks',
      })
      hook.respondWith(() => new Response('ok'))
      await post(workspace, `/channels/${id}/test`)
      expect(await read()).toMatchObject({ failingSince: null, lastError: null })
    })

    test('that is switched off says why, and switching it on clears the failures', async () => {
      const hook = receiver()
      hook.respondWith(() => new Response('gone', { status: 410 }))
      const { workspace, id, read, submit } = await setUp(hook.url)
      await submit({ message: 'Hello' })
      await until('it is off', async () => !(await read()).enabled)
      const reason = 'The receiver answered 410 Gone: it accepts no more webhooks'
      expect(await read()).toMatchObject({ disabledReason: reason, lastError: reason })
      hook.respondWith(() => new Response('ok'))
      const on = await workspace.patch(`/channels/${id}`, { enabled: true })
      expect(on.json.data).toMatchObject({ disabledReason: null, lastError: null, failingSince: null })
    })

    test('deliveries name sender and form, and show the request that was sent, without secrets', async () => {
      const hook = receiver()
      const { workspace, form, secret, submit, deliveries } = await setUp(`${hook.url}?team=1`)
      await submit({ email: 'ada@example.com', message: 'a@everyone "quoted" 漢'.repeat(2000) })
      await submit({ 'Your name': ' Ada Lovelace ', message: 'Hello' })
      await submit({ message: 'Hello' })
      const rows = await until('all of them', async () => {
        const found = await deliveries('?status=delivered')
        return found.length === 3 ? found : undefined
      })
      expect(rows.map(({ sender }: { sender: string }) => sender)).toEqual([
        null,
        'Ada Lovelace',
        'ada@example.com',
      ])
      expect(new Set(rows.map(({ formName }: { formName: string }) => formName))).toEqual(
        new Set(['Contact']),
      )
      for (const { id, messageId } of rows) {
        const { request } = (await workspace.api(`/deliveries/${id}`)).json.data
        const got = hook.requests.find((one) => one.id === messageId)
        const sent = Buffer.from(got?.body ?? '')
        expect(request).toMatchObject({ method: 'POST', url: `${hook.url}?team=1`, bodyBytes: sent.length })
        expect(sent.toString()).toStartWith(request.body)
        expect(Buffer.byteLength(request.body)).toBeWithin(Math.min(sent.length, 16_380), 16_385)
        const { host: _, ...headers } = got?.headers ?? {}
        expect(request.headers).toEqual({ ...headers, 'webhook-signature': '(hidden)' })
        expect(JSON.stringify(request)).not.toContain(headers['webhook-signature'] as string)
        expect(JSON.stringify(request)).not.toContain(secret)
      }
      // A key sees of submissions what its scopes allow.
      const { key } = await createKey(
        { db: server().app.db, now: server().now },
        workspace.id,
        'channels only',
        {
          scopes: ['channels:write'],
        },
      )
      const headers = { Authorization: `Bearer ${key}` }
      const [{ id }] = rows
      expect((await server().call(`/v1/deliveries/${id}`, { headers })).json.data).toMatchObject({
        sender: null,
        request: null,
        formKey: form.formKey,
      })
    })

    test('the request is erased with its submission, and only the newest one is kept', async () => {
      const hook = receiver()
      hook.respondWith(() => new Response('no', { status: 500 }))
      const { workspace, submit, deliveries, retry } = await setUp(hook.url)
      await submit({ email: 'erased@example.com', message: 'cAnArY' })
      const attempted = (times: number) =>
        until(`${times} attempts`, async () => {
          const [delivery] = await deliveries()
          if (!delivery) return false
          return (await workspace.api(`/deliveries/${delivery.id}`)).json.data.attempts.length === times
        })
      await attempted(1)
      await retry()
      await attempted(2)
      const stored = async () =>
        (await server().rows('delivery_attempts')).filter(({ request }) => request?.includes('cAnArY'))
      expect(await stored()).toHaveLength(1)
      const [{ id }] = await deliveries()
      expect((await workspace.api(`/deliveries/${id}`)).json.data.request.body).toContain('cAnArY')
      const erased = await workspace.delete('/submissions?email=erased@example.com')
      expect(erased.status).toBe(200)
      expect(await stored()).toEqual([])
      expect((await workspace.api(`/deliveries/${id}`)).status).toBe(404)
    })
  },
  {
    environment: { WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32', TRUST_PROXY: '127.0.0.1' },
  },
)

onSqlite('a server without SMTP_URL', (server) => {
  const said =
    'this server has no mail server. Its operator can set one up with SMTP_URL and MAIL_FROM, and restart the server'

  test('refuses email channels, and says what to set', async () => {
    const workspace = await server().createWorkspace()
    const body = { type: 'email', name: 'Team', to: ['team@example.com'] }
    const refused = await post(workspace, '/channels', body)
    expect([refused.status, refused.json.errors]).toEqual([422, { type: `email is not available: ${said}` }])
    expect((await workspace.api('/channels')).json.total).toBe(0)
    expect((await server().call('/api/auth/options')).json.mail).toBe(false)
  })

  test('says so on the email channels that it has, and does not switch them on', async () => {
    const workspace = await server().createWorkspace()
    const { id } = await server().app.db.write((connection) =>
      connection
        .insertInto('channels')
        .values({
          workspace_id: workspace.id,
          type: 'email',
          name: 'Team',
          recipients: '["team@example.com"]',
          enabled: 0,
          created_at: 1,
          updated_at: 1,
        })
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    const { data } = (await workspace.api(`/channels/${id}`)).json
    expect(data.unavailableReason).toBe(`Email is not sent: ${said}`)
    const patch = (body: object) => workspace.patch(`/channels/${id}`, body)
    const refused = await patch({ enabled: true })
    const errors = { enabled: `email is not available: ${said}` }
    expect([refused.status, refused.json.errors]).toEqual([422, errors])
    expect((await patch({ name: 'Other', enabled: false })).status).toBe(200)
    const hook = await post(workspace, '/channels', {
      type: 'webhook',
      name: 'Hook',
      url: 'https://a.example/',
    })
    expect(hook.json.data.unavailableReason).toBeNull()
  })
})

test('nothing is sent to a private network that is no longer allowed, and the reason names the setting', async () => {
  const harness = await openNotificationHarness('sqlite')
  const workspace = await harness.createWorkspace()
  const form = await workspace.createFormTo('http://127.0.0.1:1/hook')
  await harness.startDeliverer({ send: { ...harness.needs.send, allow: [] } })
  await workspace.submit(form)
  const lastError =
    'The address is in a private network. The operator of this server can allow it with WEBHOOK_ALLOW_CIDRS'
  const failing = await until('the failure', async () => {
    const { data } = (await workspace.api(`/channels/${form.channelIds[0]}`)).json
    return data.failingSince === null ? undefined : data
  })
  expect(failing).toMatchObject({ enabled: true, lastError })
  const [delivery] = await workspace.listDeliveries()
  expect(await workspace.getDelivery(delivery.id)).toMatchObject({ lastError, request: null })
  await harness.close()
})
